package history

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is the name of a promise that a history can break.
type Rule string

// The rules. Each says what it found wrong.
const (
	Malformed      Rule = "malformed"       // no history at all: an unknown kind, two messages of one name
	Invented       Rule = "invented"        // delivered or settled, but never posted
	Altered        Rule = "altered"         // delivered with another sender, target or content than it was posted with
	Repeated       Rule = "repeated"        // delivered more than once
	OutOfOrder     Rule = "out-of-order"    // delivered after a message of its stream that was posted later
	Lost           Rule = "lost"            // missing before a later message of its stream, and nobody was told
	ForgottenLife  Rule = "forgotten-life"  // a stream went on over a loss of its sender's memory without a gap
	SilentLoss     Rule = "silent-loss"     // its receiver forgot it, a later one came, and no session-reset told the sender
	FalseDelivered Rule = "false-delivered" // settled as delivered, but it was not
	FalseSure      Rule = "false-sure"      // settled as certainly not delivered, but it was
	Unsettled      Rule = "unsettled"       // its sender was never told what became of it
	SettledTwice   Rule = "settled-twice"   // its sender was told more than once
	Needless       Rule = "needless"        // a session-reset or gap although no end lost its memory
	Unpaid         Rule = "unpaid"          // more session-resets than losses of memory
)

// Violation is one broken promise.
type Violation struct {
	Rule    Rule
	Record  int // index of the record that shows it
	End     string
	Message string // empty: not about one message
	Text    string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: record %d of %s, message %q: %s", v.Rule, v.Record, v.End, v.Message, v.Text)
}

// Options say what may be asked of a history. The zero value asks for what logs of separate clocks can show.
type Options struct {
	OneClock bool // the records of all ends stand in the order in which they happened
	Zombies  bool // frames sent to one life of an end may reach its next one, which can not know them
	Refusals bool // all refusals are logged; else a message of which its sender was told late may have been refused
	Open     bool // the history goes on: messages not settled yet are no fault
}

// Verdict is what Check found.
type Verdict struct {
	Violations []Violation // in the order of their records
	Summary    Summary
}

// Err is nil if nothing was found, else an error that names the first few violations.
func (v Verdict) Err() error {
	if len(v.Violations) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "history: %d violations", len(v.Violations))
	for _, f := range v.Violations[:min(len(v.Violations), 5)] {
		b.WriteString("\n  ")
		b.WriteString(f.String())
	}
	return fmt.Errorf("%s", b.String())
}

// Has says whether rule was broken.
func (v Verdict) Has(rule Rule) bool {
	return slices.ContainsFunc(v.Violations, func(f Violation) bool { return f.Rule == rule })
}

// Check judges a history. Equal histories give equal verdicts.
func Check(records []Record, o Options) Verdict {
	x := newIndex(records)
	for _, name := range x.names {
		x.judgeMessage(x.messages[name], o)
	}
	for _, l := range x.sortedTakes() {
		for _, s := range sortedStreams(x.takes[l]) {
			x.judgeStream(l, x.takes[l][s], o)
		}
	}
	x.judgeNotices()
	slices.SortStableFunc(x.bad, func(a, b Violation) int { return a.Record - b.Record })
	return Verdict{Violations: x.bad, Summary: x.summary()}
}

func (x *index) sortedTakes() []life {
	var ls []life
	for l := range x.takes {
		ls = append(ls, l)
	}
	slices.SortFunc(ls, life.compare)
	return ls
}

func sortedStreams(m map[stream][]*taken) []stream {
	var ss []stream
	for s := range m {
		ss = append(ss, s)
	}
	slices.SortFunc(ss, stream.compare)
	return ss
}
