package firefox_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/hyroute/hyroute/e2e/driver"
	"github.com/hyroute/hyroute/e2e/firefox"
)

func newPage(t *testing.T) *firefox.Page {
	t.Helper()
	path, err := firefox.Find()
	if err != nil {
		t.Skip(err)
	}
	browser, err := firefox.Start(t.Context(), nil, exec.CommandContext(t.Context(), path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	})
	page, err := browser.NewPage(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestPage(t *testing.T) {
	page := newPage(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("from the server: " + r.URL.Path))
	}))
	defer server.Close()
	err := page.Serve(t.Context(), func(path string) (driver.Response, bool) {
		return driver.Response{Type: "text/html", Body: []byte("<title>from the driver</title><script>window.sum = (a, b) => a + b</script>")}, path == "/e2e/page"
	}, "/e2e/*")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 1)
	if err := page.Listen(t.Context(), "tell", func(payload string) { told <- payload }); err != nil {
		t.Fatal(err)
	}
	if err := page.Open(t.Context(), server.URL+"/e2e/page"); err != nil {
		t.Fatal(err)
	}

	var title, text string
	var sum int
	if err := page.Eval(t.Context(), "document.title", &title); err != nil || title != "from the driver" {
		t.Errorf("the title is %q (%v)", title, err)
	}
	if err := page.Call(t.Context(), "sum", &sum, 2, 3); err != nil || sum != 5 {
		t.Errorf("the sum is %d (%v)", sum, err)
	}
	for _, path := range []string{"/e2e/other", "/other"} {
		if err := page.Eval(t.Context(), "fetch('"+path+"').then(r => r.text())", &text); err != nil || text != "from the server: "+path {
			t.Errorf("%s gives %q (%v)", path, text, err)
		}
	}
	if err := page.Eval(t.Context(), "tell('news')", nil); err != nil {
		t.Fatal(err)
	}
	if news := <-told; news != "news" {
		t.Errorf("the page told %q", news)
	}
	if err := page.Eval(t.Context(), "nothing.like.that", nil); err == nil {
		t.Error("an exception of the page is no error")
	}
}
