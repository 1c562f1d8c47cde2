package history

import (
	"strings"
	"testing"
)

// tell makes records of a short text: a line a record, its words in the order of the kind.
//
//	a posts m [lane]      a settles m outcome [reason] [maybe]      b takes m [content]
//	b refuses m                                                     b drops m
//	a starts              a resets b                                b gaps a
//
// All messages go from hyperty://d/<end> of their poster to hyperty://d/x.
func tell(t *testing.T, text string) []Record {
	t.Helper()
	by := map[string]string{}
	var rs []Record
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, l := range lines {
		if w := strings.Fields(l); w[1] == "posts" {
			by[w[2]] = w[0]
		}
	}
	for i, l := range lines {
		w := append(strings.Fields(l), "", "", "")
		r := Record{At: uint64(i), End: w[0], Message: w[2], From: "hyperty://d/" + by[w[2]], To: "hyperty://d/x"}
		switch w[1] {
		case "posts":
			r.Kind, r.Lane = Posted, w[3]
		case "settles":
			r.Kind, r.Outcome, r.Reason, r.Maybe = Settled, w[3], w[4], w[5] == "maybe"
			r.From, r.To = "", ""
		case "takes":
			r.Kind, r.Content, r.Path = Delivered, w[3], "relay"
		case "refuses":
			r.Kind = Refused
		case "drops":
			r = Record{At: r.At, End: w[0], Kind: Dropped, Message: w[2]}
		case "starts":
			r = Record{At: r.At, End: w[0], Kind: Started}
		case "resets":
			r = Record{At: r.At, End: w[0], Kind: Reset, Peer: w[2]}
		case "gaps":
			r = Record{At: r.At, End: w[0], Kind: Gap, Peer: w[2]}
		default:
			t.Fatalf("line %d: unknown word %q", i+1, w[1])
		}
		rs = append(rs, r)
	}
	return rs
}

var good = map[string]string{
	"in hand when its receiver died, and handed over again": `
		a posts 1
		a posts 2
		b takes 1
		b takes 2
		b drops 1
		b takes 1
		a settles 1 delivered
		a settles 2 delivered`,
	"in hand when its receiver died, and then given up": `
		a posts 1
		b takes 1
		b drops 1
		a settles 1 rejected expired maybe`,
	"two in order": `
		a posts 1
		a posts 2
		b takes 1
		a settles 1 delivered
		b takes 2
		a settles 2 delivered`,
	"logs one behind the other, the receiver's first": `
		b takes 1
		b takes 2
		a posts 1
		a posts 2
		a settles 1 delivered
		a settles 2 delivered`,
	"refused, and its sender told by a reset": `
		a posts 1
		a posts 2
		b refuses 1
		b takes 2
		b starts
		a resets b
		a settles 1 rejected session-reset maybe
		a settles 2 rejected session-reset maybe`,
	"lanes overtake": `
		a posts 1 files
		a posts 2 chat
		b takes 2
		b takes 1
		a settles 2 delivered
		a settles 1 delivered`,
	"expired before a later one": `
		a posts 1
		a posts 2
		a settles 1 rejected expired maybe
		b takes 2
		a settles 2 delivered`,
	"expired as maybe and delivered": `
		a posts 1
		b takes 1
		a settles 1 rejected expired maybe`,
	"refused by its receiver, told after the next": `
		a posts 1
		a posts 2
		b refuses 1
		b takes 2
		a settles 2 delivered
		a settles 1 rejected no-listener`,
	"refused by a life that ended, taken by the next": `
		a posts 1
		b starts
		b starts
		b takes 1
		a settles 1 rejected no-listener`,
	"receiver lost its memory": `
		a posts 1
		b takes 1
		a settles 1 delivered
		b starts
		a posts 2
		a resets b
		b gaps a
		a settles 2 rejected session-reset maybe
		a posts 3
		b takes 3
		a settles 3 delivered`,
	"receiver lost its memory before the first acknowledgement": `
		a posts 1
		b takes 1
		b starts
		b takes 1
		a settles 1 delivered`,
	"sender lost its memory": `
		a posts 1
		a posts 2
		b takes 1
		a starts
		b gaps a
		a posts 3
		b takes 3
		a settles 3 delivered`,
	"plain messages have no order": `
		a posts 1
		a posts 2
		b takes 2
		a settles 1 taken
		a settles 2 taken`,
	"moved to another end": `
		a posts 1
		a posts 2
		b takes 1
		c takes 2
		a settles 1 delivered
		a settles 2 delivered`,
}

var bad = map[string]struct {
	rule Rule
	text string
}{
	"dropped, and never handed over again": {FalseDelivered, `
		a posts 1
		b takes 1
		b drops 1
		a settles 1 delivered`},
	"dropped, and a later one came": {Lost, `
		a posts 1
		a posts 2
		b takes 1
		b drops 1
		b takes 2
		a settles 2 delivered
		a settles 1 rejected expired maybe`},
	"handed over again although it was taken": {Repeated, `
		a posts 1
		b takes 1
		b drops 1
		b takes 1
		b takes 1
		a settles 1 delivered`},
	"never posted, delivered": {Invented, `
		b takes 1`},
	"never posted, refused": {Invented, `
		b refuses 1`},
	"never posted, settled": {Invented, `
		a settles 1 delivered`},
	"two of one name": {Malformed, `
		a posts 1
		a posts 1
		b takes 1
		a settles 1 delivered`},
	"settled elsewhere": {Malformed, `
		a posts 1
		b takes 1
		b settles 1 delivered`},
	"unknown outcome": {Malformed, `
		a posts 1
		a settles 1 lost`},
	"twice to one end": {Repeated, `
		a posts 1
		b takes 1
		b takes 1
		a settles 1 delivered`},
	"twice, a second end": {Repeated, `
		a posts 1
		b takes 1
		c takes 1
		a settles 1 delivered`},
	"twice, after its sender knew": {Repeated, `
		a posts 1
		b takes 1
		a settles 1 delivered
		b starts
		b takes 1`},
	"second before first": {OutOfOrder, `
		a posts 1
		a posts 2
		b takes 2
		b takes 1
		a settles 1 delivered
		a settles 2 delivered`},
	"former life after the new one": {OutOfOrder, `
		a posts 1
		a starts
		b gaps a
		a posts 2
		b takes 2
		a settles 2 delivered
		b takes 1`},
	"hole in the middle": {Lost, `
		a posts 1
		a posts 2
		a posts 3
		b takes 1
		b takes 3
		a settles 1 delivered
		a settles 3 delivered`},
	"hole at the start": {Lost, `
		a posts 1
		a posts 2
		b takes 2
		a settles 2 delivered`},
	"hole, told too late": {Lost, `
		a posts 1
		a posts 2
		b takes 2
		a settles 1 rejected expired maybe
		a settles 2 delivered`},
	"gap of another peer does not excuse": {Lost, `
		c posts 0
		a posts 1
		a posts 2
		c starts
		b gaps c
		b takes 2
		a settles 2 delivered`},
	"no gap over a loss of memory": {ForgottenLife, `
		a posts 1
		b takes 1
		a starts
		a posts 2
		b takes 2
		a settles 2 delivered`},
	"gap too late": {ForgottenLife, `
		a posts 1
		b takes 1
		a starts
		a posts 2
		b takes 2
		b gaps a
		a settles 2 delivered`},
	"no reset for the sender": {SilentLoss, `
		a posts 1
		b takes 1
		a settles 1 delivered
		b starts
		a posts 2
		b takes 2
		a settles 2 delivered`},
	"said delivered, lost": {FalseDelivered, `
		a posts 1
		a settles 1 delivered`},
	"said delivered too early": {FalseDelivered, `
		a posts 1
		a settles 1 delivered
		b takes 1`},
	"sure, and delivered": {FalseSure, `
		a posts 1
		b takes 1
		a settles 1 rejected expired`},
	"refused, and delivered": {FalseSure, `
		a posts 1
		b takes 1
		a settles 1 rejected no-listener`},
	"never settled": {Unsettled, `
		a posts 1
		b takes 1`},
	"settled twice": {SettledTwice, `
		a posts 1
		b takes 1
		a settles 1 delivered
		a settles 1 delivered`},
	"rejected, then delivered": {SettledTwice, `
		a posts 1
		a settles 1 rejected expired maybe
		b takes 1
		a settles 1 delivered`},
	"reset without cause": {Needless, `
		a posts 1
		a resets b
		a settles 1 rejected session-reset maybe`},
	"gap without cause": {Needless, `
		a posts 1
		b gaps a
		b takes 1
		a settles 1 delivered`},
	"two resets for one loss": {Unpaid, `
		a posts 1
		b takes 1
		a settles 1 delivered
		b starts
		a resets b
		a resets b`},
}

func TestGoodHistories(t *testing.T) {
	separate := map[string]bool{"logs one behind the other, the receiver's first": true}
	for name, text := range good {
		t.Run(name, func(t *testing.T) {
			if err := Check(tell(t, text), Options{OneClock: !separate[name], Refusals: true}).Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBadHistories(t *testing.T) {
	caught := map[Rule]bool{Altered: true} // has a test of its own
	for name, b := range bad {
		caught[b.rule] = true
		t.Run(name, func(t *testing.T) {
			if v := Check(tell(t, b.text), Options{OneClock: true, Refusals: true}); !v.Has(b.rule) {
				t.Errorf("not caught as %s; found %v", b.rule, v.Err())
			}
		})
	}
	for _, r := range []Rule{Malformed, Invented, Altered, Repeated, OutOfOrder, Lost, ForgottenLife, SilentLoss, FalseDelivered, FalseSure, Unsettled, SettledTwice, Needless, Unpaid} {
		if !caught[r] {
			t.Errorf("no bad history for %s", r)
		}
	}
}

func TestAlteredMessageIsCaught(t *testing.T) {
	rs := tell(t, "a posts 1\nb takes 1\na settles 1 delivered")
	change := map[string]func(r *Record){
		"sender":  func(r *Record) { r.From = "hyperty://d/other" },
		"target":  func(r *Record) { r.To = "hyperty://d/other" },
		"content": func(r *Record) { r.Content = "crc 2" },
	}
	for name, f := range change {
		c := append([]Record(nil), rs...)
		c[0].Content = "crc 1"
		f(&c[1])
		if v := Check(c, Options{}); !v.Has(Altered) {
			t.Errorf("another %s: not caught", name)
		}
	}
}

func TestOpenHistoryMayHaveUnsettledMessages(t *testing.T) {
	rs := tell(t, "a posts 1")
	if err := Check(rs, Options{Open: true}).Err(); err != nil {
		t.Error(err)
	}
}

func TestGapOfAnotherSessionDoesNotExcuse(t *testing.T) {
	rs := tell(t, "a posts 1\nb takes 1\na settles 1 delivered\na starts\na posts 2\nb gaps a\nb takes 2\na settles 2 delivered")
	rs[1].Session, rs[5].Session, rs[6].Session = 1, 1, 1
	if err := Check(rs, Options{OneClock: true}).Err(); err != nil {
		t.Error(err)
	}
	rs[5].Session = 2
	if v := Check(rs, Options{OneClock: true}); !v.Has(ForgottenLife) {
		t.Error("not caught")
	}
}

func TestZombieMayReachALaterLife(t *testing.T) {
	rs := tell(t, "a posts 1\nb takes 1\na settles 1 delivered\nb starts\nb takes 1")
	if err := Check(rs, Options{OneClock: true, Zombies: true}).Err(); err != nil {
		t.Error(err)
	}
	rs = append(rs, rs[1])
	if v := Check(rs, Options{OneClock: true, Zombies: true}); !v.Has(Repeated) {
		t.Error("twice to one life: not caught")
	}
}

func TestSummary(t *testing.T) {
	rs := tell(t, "a posts 1\na posts 2\na posts 3\nb takes 1\nb takes 3\nb takes 2\nb takes 2\na settles 1 delivered")
	rs[3].At, rs[4].At, rs[5].At, rs[6].At = 100, 140, 900, 901
	rs[3].Path = "direct"
	s := Check(rs, Options{Open: true}).Summary
	if s.Posted != 3 || s.Delivered != 4 || s.Duplicates != 1 || s.OutOfOrder != 2 || s.LongestGap != 760 || s.Share["direct"] != 0.25 {
		t.Errorf("wrong summary: %+v", s)
	}
}
