// Package corpus reads, plays and rewrites the scenarios: text files that say what happens and what a machine must answer,
// one truth for every body. README.md beside it has the format.
package corpus

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Block is one call of a machine and what it must answer.
type Block struct {
	Line     int      // of the file: where the input begins
	Comments []string // in front of the input
	Input    []string // an open line, a frame, or one of the words save and restore
	Output   []string
}

// Scenario is one file.
type Scenario struct {
	Name     string   // topic/behaviour
	Sentence string   // what the file proves
	Steps    []string // of the routing document that it names
	Rows     []string // of the decision table that it names
	header   []string
	Blocks   []Block
}

const divider = "----"

// What a block can say instead of a frame: take a snapshot, and go on with a new machine made of the last one.
const (
	save    = "save"
	restore = "restore"
)

// note begins a comment that Format writes itself: what a header in hex says.
const note = "#~ "

// Parse reads a scenario.
func Parse(name, text string) (*Scenario, error) {
	s := &Scenario{Name: name}
	for line, lines := range paragraphs(text) {
		b, err := parseBlock(line, lines)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case len(b.Input) > 0:
			s.Blocks = append(s.Blocks, b)
		case len(s.Blocks) == 0 && s.header == nil:
			s.header = b.Comments
		default:
			return nil, fmt.Errorf("%s:%d: a comment without a block", name, line)
		}
	}
	if len(s.Blocks) == 0 || !strings.HasPrefix(s.Blocks[0].Input[0], "open") || len(s.Blocks[0].Input) != 1 {
		return nil, fmt.Errorf("%s: the first block is not one open line", name)
	}
	saved := false
	for _, b := range s.Blocks[1:] {
		switch first := b.Input[0]; {
		case strings.HasPrefix(first, "at "):
		case first != save && first != restore:
			return nil, fmt.Errorf("%s:%d: a block begins with at now=, or is %s or %s", name, b.Line, save, restore)
		case len(b.Input) > 1 || len(b.Output) > 0:
			return nil, fmt.Errorf("%s:%d: %s stands alone", name, b.Line, first)
		case first == restore && !saved:
			return nil, fmt.Errorf("%s:%d: nothing was saved", name, b.Line)
		default:
			saved = true
		}
	}
	return s, s.readHeader()
}

// paragraphs gives runs of lines between empty lines, with the number of their first line.
func paragraphs(text string) func(func(int, []string) bool) {
	return func(yield func(int, []string) bool) {
		var run []string
		for i, line := range append(strings.Split(text, "\n"), "") {
			if line != "" {
				run = append(run, line)
				continue
			}
			if len(run) > 0 && !yield(i+1-len(run), run) {
				return
			}
			run = nil
		}
	}
}

func parseBlock(line int, lines []string) (Block, error) {
	b := Block{Line: line}
	divided := false
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, note):
		case strings.HasPrefix(l, "#"):
			if divided || len(b.Input) > 0 {
				return b, fmt.Errorf("line %d: a comment stands in front of its block", line+i)
			}
			b.Comments = append(b.Comments, l)
		case l == divider:
			if divided || len(b.Input) == 0 {
				return b, fmt.Errorf("line %d: a second %s, or one without input", line+i, divider)
			}
			divided = true
		case divided:
			b.Output = append(b.Output, l)
		default:
			if len(b.Input) == 0 {
				b.Line = line + i
			}
			b.Input = append(b.Input, l)
		}
	}
	if len(b.Input) > 0 && !divided {
		return b, fmt.Errorf("line %d: no %s after the input", line, divider)
	}
	return b, nil
}

// readHeader takes the sentence and the lists from the comments at the top.
func (s *Scenario) readHeader() error {
	for i, l := range s.header {
		l = strings.TrimSpace(strings.TrimPrefix(l, "#"))
		var err error
		switch {
		case i == 0:
			s.Sentence = l
		case strings.HasPrefix(l, "steps:"):
			s.Steps, err = list(l)
		case strings.HasPrefix(l, "rows:"):
			s.Rows, err = list(l)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", s.Name, i+1, err)
		}
	}
	if !strings.HasSuffix(s.Sentence, ".") {
		return fmt.Errorf("%s: the first line is not a comment with the sentence that the file proves", s.Name)
	}
	return nil
}

// list reads "steps: 1-3, 8, 6d".
func list(l string) ([]string, error) {
	_, l, _ = strings.Cut(l, ":")
	var items []string
	for _, item := range strings.Split(l, ",") {
		item = strings.TrimSpace(item)
		var first, last int
		if n, _ := fmt.Sscanf(item, "%d-%d", &first, &last); n == 2 && first < last && last < 100 {
			for i := first; i <= last; i++ {
				items = append(items, fmt.Sprint(i))
			}
			continue
		}
		if item == "" || strings.ContainsAny(item, " -") {
			return nil, fmt.Errorf("%q is neither a number nor a range", item)
		}
		items = append(items, item)
	}
	return items, nil
}

// Load reads all scenarios below a folder, in the order of their names.
func Load(folder string) ([]*Scenario, error) {
	var all []*Scenario
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".txt" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, strings.TrimSuffix(path, ".txt"))
		if err != nil {
			return err
		}
		s, err := Parse(filepath.ToSlash(name), string(text))
		all = append(all, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Save writes a scenario below a folder.
func (s *Scenario) Save(folder string) error {
	path := filepath.Join(folder, filepath.FromSlash(s.Name)+".txt")
	return os.WriteFile(path, []byte(s.Format()), 0o644)
}

// Format is the text of the file: what Parse reads, with a note after each line that holds a frame's header.
func (s *Scenario) Format() string {
	var b strings.Builder
	put := func(lines []string) {
		for _, l := range lines {
			b.WriteString(l + "\n")
			if text := describe(l); text != "" {
				b.WriteString(note + text + "\n")
			}
		}
	}
	put(s.header)
	for _, block := range s.Blocks {
		b.WriteString("\n")
		put(block.Comments)
		put(block.Input)
		b.WriteString(divider + "\n")
		put(block.Output)
	}
	return b.String()
}
