package world

import (
	"fmt"
	"strconv"
	"strings"
)

// Verb is what an Action does.
type Verb string

// The verbs. Bodies and nodes are numbered from 0; a fault lasts For ms and is over at the end of the plan in any case.
const (
	Post       Verb = "post"       // Who posts Count messages of about Size bytes from From to To, one each Every ms
	Plain      Verb = "plain"      // an older client sends Count plain JSON messages by Node to To
	Kill       Verb = "kill"       // Who dies with all its memory, and starts anew after For. Mode 1: its sockets stay half open
	Crash      Verb = "crash"      // Who dies, and comes back after For with what it had stored. Mode 0: by commit, dying Size-1 effects into its next step; 1: by last act; 2: an old save; 3: it does not die, and a second one begins from its state. Count 1: its sockets stay half open. Every: its clock is so many ms behind
	Close      Verb = "close"      // Who closes, and starts anew after For
	Trap       Verb = "trap"       // the machine of Who is replaced, from its last snapshot and the journal since
	Freeze     Verb = "freeze"     // Who does nothing for a while, then gets all at once
	Stall      Verb = "stall"      // the clock of Who stands still
	Cut        Verb = "cut"        // the socket of Who to Node dies and can not come back for a while. Mode: who notices late, 1 the node, 2 the body
	Restart    Verb = "restart"    // Node goes down and comes back without its memory of sockets (Mode 1: with it)
	Noise      Verb = "noise"      // Node treats session frames and signals badly. Count: so many percent lost, Size: repeated, Every: delayed by up to that. Mode 1: answered by NOTICE 4 instead of lost
	Answers    Verb = "answers"    // Node treats its answers badly. Count: percent. Mode: 0 lost, 1 late, 2 twice, 3 with a wrong job
	Stop       Verb = "stop"       // data channels between Who and Whom stand still, then thaw. Mode 1: only towards Whom
	Break      Verb = "break"      // Who's side of its data channels with Whom is closed
	Roam       Verb = "roam"       // the network of Who is another one: its sockets and data channels lead nowhere, and nobody else is told. Mode 1: nor is Who
	NoPath     Verb = "no-path"    // no data channel can be made between Who and Whom
	Slow       Verb = "slow"       // listeners of Who take messages late. Mode 1: not at all until it is over. Mode 2: they refuse
	Narrow     Verb = "narrow"     // what Who sends is limited to Size bytes a ms
	Block      Verb = "block"      // the stubs of Who say blocked, and writable when it is over
	Move       Verb = "move"       // the endpoint From of Who goes to Whom
	Unregister Verb = "unregister" // the endpoint From of Who is gone for a while
	Lie        Verb = "lie"        // Who is told that Whom hosts To, and that its entry changed. Neither is true
	Stray      Verb = "stray"      // Who gets events that answer nothing and frames that are none
	Explain    Verb = "explain"    // Who is asked how it would send from From to To
)

// Action is one thing that happens in a plan. Fields that its verb does not use are zero.
type Action struct {
	At       uint64 // ms since the start of the world
	Do       Verb
	Who      int
	Whom     int
	Node     int
	Mode     int
	Count    int
	Size     int
	Every    uint64
	For      uint64
	From, To string
	Deadline uint64 // of a message, ms
	Answer   uint64 // wanted within, ms
	Never    bool   // keep off peer connections
	Lane     string
}

// field is one key of the text form.
type field struct {
	key  string
	get  func(*Action) string
	take func(*Action, string) error
}

func number[T int | uint64](key string, of func(*Action) *T) field {
	return field{key,
		func(a *Action) string {
			if *of(a) == 0 {
				return ""
			}
			return strconv.FormatInt(int64(*of(a)), 10)
		},
		func(a *Action, s string) error {
			v, err := strconv.ParseUint(s, 10, 40)
			*of(a) = T(v)
			return err
		}}
}

func text(key string, of func(*Action) *string) field {
	return field{key, func(a *Action) string { return *of(a) }, func(a *Action, s string) error { *of(a) = s; return nil }}
}

var fields = []field{
	number("at", func(a *Action) *uint64 { return &a.At }),
	text("do", func(a *Action) *string { return (*string)(&a.Do) }),
	number("who", func(a *Action) *int { return &a.Who }),
	number("whom", func(a *Action) *int { return &a.Whom }),
	number("node", func(a *Action) *int { return &a.Node }),
	number("mode", func(a *Action) *int { return &a.Mode }),
	number("count", func(a *Action) *int { return &a.Count }),
	number("size", func(a *Action) *int { return &a.Size }),
	number("every", func(a *Action) *uint64 { return &a.Every }),
	number("for", func(a *Action) *uint64 { return &a.For }),
	text("from", func(a *Action) *string { return &a.From }),
	text("to", func(a *Action) *string { return &a.To }),
	number("deadline", func(a *Action) *uint64 { return &a.Deadline }),
	number("answer", func(a *Action) *uint64 { return &a.Answer }),
	{"never",
		func(a *Action) string {
			if a.Never {
				return "1"
			}
			return ""
		},
		func(a *Action, s string) error {
			a.Never = s == "1"
			return nil
		}},
	text("lane", func(a *Action) *string { return &a.Lane }),
}

// String is the action as one line of a plan.
func (a Action) String() string {
	var words []string
	for _, f := range fields {
		if v := f.get(&a); v != "" {
			words = append(words, f.key+"="+v)
		}
	}
	return strings.Join(words, " ")
}

// parseAction reads what String writes.
func parseAction(line string) (Action, error) {
	var a Action
next:
	for _, word := range strings.Fields(line) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return a, fmt.Errorf("%q is not key=value", word)
		}
		for _, f := range fields {
			if f.key == key {
				if err := f.take(&a, value); err != nil {
					return a, fmt.Errorf("%s: %w", key, err)
				}
				continue next
			}
		}
		return a, fmt.Errorf("unknown key %q", key)
	}
	if handlers[a.Do] == nil {
		return a, fmt.Errorf("unknown verb %q", a.Do)
	}
	return a, nil
}
