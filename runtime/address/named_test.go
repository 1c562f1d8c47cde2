package address

import "testing"

func TestNamesake(t *testing.T) {
	const id = "ybc6mpuxihw46texgdncv3kdnvuyz6xu"
	for text, want := range map[string]string{
		"hyperty://d.example/" + id:             "runtime://d.example/" + id,
		"hyperty://d.example:8080/" + id + "/x": "runtime://d.example:8080/" + id,
		"comm://d.example/" + id:                "runtime://d.example/" + id,
		"hyperty://d.example/" + id + "a":       "",
		"hyperty://d.example/bob":               "",
		"hyperty://d.example/1" + id[1:]:        "",
		"runtime://d.example/" + id:             "",
		"hyperty://registry.d.example/" + id:    "",
		"comm://d.example/" + id + "/changes":   "",
	} {
		if got := MustParse(text).Namesake().String(); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
	if got := MustParse("hyperty://d/" + id).Namesake(); got != MustParse("runtime://d/"+id) {
		t.Errorf("%#v is not what Parse makes of it", got)
	}
}
