package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hyroute/hyroute/wasm/wasmtest"
)

func load(t *testing.T) []*Scenario {
	t.Helper()
	all, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("only %d scenarios", len(all))
	}
	return all
}

func TestNative(t *testing.T) {
	for _, s := range load(t) {
		if err := s.Play(Native()); err != nil {
			t.Error(err)
		}
	}
}

func TestWazero(t *testing.T) {
	make := Wazero(wasmtest.Module(t))
	for _, s := range load(t) {
		if err := s.Play(make); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesAreFormatted(t *testing.T) {
	for _, s := range load(t) {
		text, err := os.ReadFile(filepath.FromSlash(s.Name) + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != s.Format() {
			t.Errorf("%s is not as the native runner writes it: -update, then read the difference", s.Name)
		}
	}
}

// rows are those of the decision table of the routing document.
var rows = strings.Fields("1 2 3 4 5 6a 6b 6c 6d 6e 7 8 9 10 11 12 13 14 15")

func TestEveryStepAndRowIsNamed(t *testing.T) {
	steps, named := map[string]bool{}, map[string]bool{}
	for _, s := range load(t) {
		for _, n := range s.Steps {
			steps[n] = true
			if !slices.Contains(taken(s), n) {
				t.Errorf("%s names step %s, which no decision in it went through", s.Name, n)
			}
		}
		for _, r := range s.Rows {
			named[r] = true
			if !slices.Contains(rows, r) {
				t.Errorf("%s names row %s, which the table does not have", s.Name, r)
			}
		}
	}
	for i := 1; i <= 25; i++ {
		if !steps[fmt.Sprint(i)] {
			t.Errorf("no scenario names step %d", i)
		}
	}
	for _, r := range rows {
		if !named[r] {
			t.Errorf("no scenario names row %s", r)
		}
	}
}

// taken are the steps that the decisions in a scenario went through, as its expected output records them.
func taken(s *Scenario) []string {
	var all []string
	for _, b := range s.Blocks {
		for _, l := range b.Output {
			verb, _, _ := strings.Cut(l, " ")
			if _, steps, ok := strings.Cut(l, " steps="); ok && (verb == "routed" || verb == "explained") {
				all = append(all, strings.Split(steps, ",")...)
			}
		}
	}
	return all
}

func TestBadFilesAreRefused(t *testing.T) {
	const good = "# A sentence.\n\nopen\n----\n"
	tests := []struct{ name, text, want string }{
		{"empty", "", "first block"},
		{"no open", "# A sentence.\n\nat now=1\n----\n", "first block"},
		{"two opens", good + "\nopen\n----\n", "begins with at"},
		{"nothing saved", good + "\nrestore\n----\n", "nothing was saved"},
		{"save with more", good + "\nsave\nat now=1\n----\n", "stands alone"},
		{"no divider", "# A sentence.\n\nopen\n", "no ----"},
		{"two dividers", good + "\nat now=1\n----\n----\n", "second ----"},
		{"no input", good + "\n----\nwake\n", "without input"},
		{"late comment", good + "\nat now=1\n# Why?\n----\n", "in front of its block"},
		{"comment alone", good + "\n# Why?\n", "comment without a block"},
		{"no sentence", "open\n----\n", "sentence"},
		{"bad range", "# A sentence.\n# steps: 3-1\n\nopen\n----\n", "neither a number nor a range"},
	}
	if _, err := Parse("good", good); err != nil {
		t.Error(err)
	}
	for _, test := range tests {
		if _, err := Parse(test.name, test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestPlaySeesADifference: a runner that finds nothing would find nothing.
func TestPlaySeesADifference(t *testing.T) {
	for _, s := range load(t)[:3] {
		if len(s.Blocks[0].Output) == 0 {
			t.Fatalf("%s: a start without effects", s.Name)
		}
		s.Blocks[0].Output[0] += "0"
		if err := s.Play(Native()); err == nil {
			t.Errorf("%s: a changed line was not seen", s.Name)
		}
		s.Blocks[0].Output = s.Blocks[0].Output[1:]
		if err := s.Play(Native()); err == nil {
			t.Errorf("%s: a missing line was not seen", s.Name)
		}
	}
}
