// Package hyroute_test holds the rules of this tree as tests, each with its reason.
//
// A rule that nobody checks is a wish. Whoever wants to break one changes it here, in the same commit, and says why in
// RATIONALE.md.
package hyroute_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/hyroute/hyroute"

// machine are the packages that decide: no I/O, no clock, and compiled into the module.
var machine = []string{
	"runtime/agenda", "runtime/ledger", "runtime/order", "runtime/pool", "runtime/random", "runtime/snapshot",
	"runtime/address", "runtime/message", "runtime/frame", "runtime/resolver", "runtime/session", "runtime/engine", "runtime/wire",
}

// mayImport says what of this module a package (and all below its folder) may reach, tests left out. Imports point one
// way only, so that the machine can be read, tested and compiled without any body, and a body without the others.
// A package that stands in no line here fails the test: where it belongs is a decision to take, not to slip in.
var mayImport = map[string][]string{
	"identity": {"runtime/address"},

	"runtime/agenda":   {},
	"runtime/ledger":   {},
	"runtime/order":    {},
	"runtime/pool":     {},
	"runtime/random":   {"runtime/address", "runtime/snapshot"},
	"runtime/snapshot": {"runtime/address"},

	"runtime/address":  {},
	"runtime/message":  {"runtime/address"},
	"runtime/frame":    {"runtime/address"},
	"runtime/resolver": {"runtime/address", "runtime/agenda", "runtime/order", "runtime/random", "runtime/snapshot"},
	"runtime/session": {
		"runtime/address", "runtime/frame",
		"runtime/agenda", "runtime/ledger", "runtime/order", "runtime/pool", "runtime/random", "runtime/snapshot",
	},
	"runtime/engine": {
		"runtime/address", "runtime/message", "runtime/frame", "runtime/resolver", "runtime/session",
		"runtime/agenda", "runtime/ledger", "runtime/order", "runtime/pool", "runtime/random", "runtime/snapshot",
	},
	"runtime/wire": machine,
	"wasm":         machine,

	"stubs": {"identity", "runtime/address", "runtime/message", "runtime/frame"},
	"p2p":   {"identity", "stubs", "runtime/address", "runtime/message", "runtime/frame"}, // stubs: one face for every stub
	"node":  {"identity", "runtime/address", "runtime/message", "runtime/frame", "runtime/session"},
	"host":  append([]string{"identity", "stubs", "p2p"}, machine...),

	"cmd/hyroute": append([]string{"identity", "stubs", "p2p", "host", "node", "web"}, machine...),
	"web":         {},

	"scenarios": append([]string{"host"}, machine...),
	"e2e":       append([]string{"identity", "stubs", "p2p", "host", "scenarios"}, machine...),
	"e2e/soak":  append([]string{"identity", "stubs", "p2p", "host", "node", "scenarios", "e2e"}, machine...),
}

// heavy are standard packages that the machine may not reach. time, os and math/rand because time, randomness and I/O
// are input; fmt, encoding/json, net/url, log and crypto because of what they weigh in a page (up to 261 KB in brotli,
// where the whole empty module is 422 KB). A name that ends in / stands for everything below it.
var heavy = []string{
	"time", "os", "os/", "fmt", "encoding/json", "net", "net/", "log", "log/", "math/rand", "math/rand/", "crypto", "crypto/",
	"context", "regexp", "io/fs", "syscall", "text/", "html/",
}

type goPackage struct {
	ImportPath, Dir, Doc string
	Standard             bool
	Deps                 []string
	GoFiles              []string
	Module               *struct{ Path string }
}

// listPackages asks the go command about the packages of this module and all that they reach, for a system.
func listPackages(t *testing.T, goos, goarch string, patterns ...string) map[string]goPackage {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-e", "-deps", "-json=ImportPath,Dir,Doc,Standard,Deps,GoFiles,Module"}, patterns...)...)
	command.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
}

// ours cuts the module's path off, and says whether the package is of this module.
func ours(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}

// owner is the longest line of mayImport that a package stands under.
func owner(name string) (string, bool) {
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if _, ok := mayImport[dir]; ok {
			return dir, true
		}
	}
	return "", false
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range listPackages(t, "linux", "amd64", "./...") {
		name, ok := ours(p.ImportPath)
		if !ok || len(p.GoFiles) == 0 {
			continue
		}
		from, ok := owner(name)
		if !ok {
			t.Errorf("%s: no line in mayImport: decide what it may import", name)
			continue
		}
		for _, dep := range p.Deps {
			reached, ok := ours(dep)
			if !ok {
				continue
			}
			if to, ok := owner(reached); !ok || to != from && !slices.Contains(mayImport[from], to) {
				t.Errorf("%s reaches %s: it may reach only %v", name, reached, mayImport[from])
			}
		}
	}
}

// The machine runs in pages and at the edge, where each kilobyte is paid by every visitor, and gives equal output for
// equal input: it may reach neither heavy packages nor those that know time, chance or the outside. Nor may it have
// dependencies: what is not of this module or the standard library is refused whatever it is.
func TestMachineReachesNothingHeavy(t *testing.T) {
	packages := listPackages(t, "linux", "amd64", "./...")
	for _, name := range machine {
		p, ok := packages[module+"/"+name]
		if !ok {
			t.Errorf("%s: no such package", name)
			continue
		}
		for _, dep := range p.Deps {
			if _, ok := ours(dep); !ok && !packages[dep].Standard {
				t.Errorf("%s reaches %s: the machine has no dependencies", name, dep)
			}
			for _, h := range heavy {
				if dep == h || strings.HasSuffix(h, "/") && strings.HasPrefix(dep, h) {
					t.Errorf("%s reaches %s", name, dep)
				}
			}
		}
	}
}

// The module is what a page loads: the rule holds for what is built for wasip1 too, where other files are chosen.
// The Go runtime itself brings syscall there, so that one is left out.
func TestModuleReachesNothingHeavy(t *testing.T) {
	packages := listPackages(t, "wasip1", "wasm", "./wasm")
	p, ok := packages[module+"/wasm"]
	if !ok {
		t.Fatal("wasm: no such package")
	}
	for _, dep := range p.Deps {
		if _, ok := ours(dep); !ok && !packages[dep].Standard {
			t.Errorf("wasm reaches %s: the module has no dependencies", dep)
		}
		for _, h := range heavy {
			if h != "syscall" && (dep == h || strings.HasSuffix(h, "/") && strings.HasPrefix(dep, h)) {
				t.Errorf("wasm reaches %s", dep)
			}
		}
	}
}

// files are all files that a person wrote, by slash path.
func files(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "node_modules", "dist", "bin", "testdata"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		all = append(all, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isSource(name string) bool {
	return slices.Contains([]string{".go", ".ts", ".js", ".mjs"}, path.Ext(name)) && !strings.HasSuffix(name, ".d.ts")
}

// A file holds one concept. Past 400 lines it mostly holds two; past 500 it surely does. Comments count: they are read.
func TestFilesAreShort(t *testing.T) {
	var all, long int
	for _, name := range files(t) {
		if !isSource(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all++
		lines := strings.Count(string(text), "\n")
		if lines >= 400 {
			long++
		}
		if lines > 500 {
			t.Errorf("%s has %d lines: none may have more than 500", name, lines)
		}
	}
	if long*20 > all {
		t.Errorf("%d of %d files have 400 lines or more: at most one in twenty may", long, all)
	}
}

// Such a name says that its owner did not know what the thing is, and whatever fits nowhere else gathers behind it.
var vague = regexp.MustCompile(`(?i)util|helper|manager`)

// declared finds the names that TypeScript and JavaScript declare.
var declared = regexp.MustCompile(`(?m)\b(?:class|interface|type|enum|function|const|let)\s+([A-Za-z_$][\w$]*)`)

func TestNamesAreNotVague(t *testing.T) {
	for _, name := range files(t) {
		if vague.MatchString(name) {
			t.Errorf("%s: a vague name", name)
		}
		if !isSource(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, identifier := range declaredIn(t, name, text) {
			if vague.MatchString(identifier) {
				t.Errorf("%s declares %s: a vague name", name, identifier)
			}
		}
	}
}

func declaredIn(t *testing.T, name string, text []byte) []string {
	t.Helper()
	var found []string
	if path.Ext(name) != ".go" {
		for _, m := range declared.FindAllSubmatch(text, -1) {
			found = append(found, string(m[1]))
		}
		return found
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			found = append(found, d.Name.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					found = append(found, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						found = append(found, n.Name)
					}
				}
			}
		}
	}
	return found
}

// A warning that is silenced is a warning that the next reader does not get. Either it is right, or the rule goes.
func TestNoLintSuppressions(t *testing.T) {
	suppressions := regexp.MustCompile(`//\s?no` + `lint|//lint:` + `ignore|//lint:` + `file-ignore|#no` + `sec|@ts-` + `(ignore|nocheck|expect-error)|es` + `lint-disable|biome-` + `ignore`)
	for _, name := range files(t) {
		if !isSource(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := suppressions.FindString(line); m != "" {
				t.Errorf("%s:%d: %s", name, i+1, m)
			}
		}
	}
}

// A reader who opens a folder learns first what it is for: a Go package by its comment, a folder of scripts by a README
// or by a file that begins with a comment.
func TestEveryFolderSaysWhatItIs(t *testing.T) {
	said := map[string]bool{}
	for _, name := range files(t) {
		dir, base := path.Split(name)
		goFile := path.Ext(name) == ".go"
		if !isSource(name) && base != "README.md" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case base == "README.md":
			said[dir] = true
		case goFile:
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			said[dir] = said[dir] || file.Doc != nil
		default:
			start := strings.TrimSpace(strings.TrimPrefix(string(text), "#!/usr/bin/env node\n"))
			said[dir] = said[dir] || strings.HasPrefix(start, "//") || strings.HasPrefix(start, "/*")
		}
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s: nothing says what this folder is for", dir)
		}
	}
}

// README ends with a map of the tree. A folder that it leaves out is one that nobody finds.
func TestReadmeMapNamesEveryFolder(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || name == "bin" || name == "dist" || name == "node_modules" {
			continue
		}
		if !strings.Contains(string(readme), name+"/") {
			t.Errorf("README.md: the map does not mention %s/", name)
		}
	}
}

// What web/ ships is loaded by every visitor, from us alone: no dependencies at run time, but for the one that stands in
// where a browser has no Ed25519 of its own.
func TestWebShipsNoDependencies(t *testing.T) {
	text, err := os.ReadFile("web/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatalf("web/package.json: %v", err)
	}
	for name := range manifest.Dependencies {
		if name != "@noble/ed25519" {
			t.Errorf("web/package.json: %s is a dependency at run time", name)
		}
	}
}
