package world

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Keep writes a failing plan to a folder, with what it breaks as a comment, and gives the name of the file.
func Keep(folder string, p *Plan, f *Failure) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Breaks the promise %q", f.Rule)
	for _, l := range strings.Split(f.Text, "\n") {
		fmt.Fprintf(&b, "\n# %s", l)
	}
	fmt.Fprintf(&b, "\n# at %d ms.\n%s", f.At, p)
	name := filepath.Join(folder, fmt.Sprintf("%s-%d.txt", strings.ReplaceAll(f.Rule, " ", "-"), p.Seed))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(name, []byte(b.String()), 0o644)
}
