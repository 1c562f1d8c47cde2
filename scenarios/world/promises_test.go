package world

import (
	"testing"

	"github.com/hyroute/hyroute/host/machine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
	"github.com/hyroute/hyroute/runtime/frame"
)

// scripted is a machine that answers as a test wants it to.
type scripted struct {
	answer func(now engine.Instant, e engine.Event) []engine.Effect
}

func (s *scripted) Step(now engine.Instant, events ...engine.Event) ([]engine.Effect, error) {
	var all []engine.Effect
	for _, e := range events {
		all = append(all, s.answer(now, e)...)
	}
	return all, nil
}
func (s *scripted) Snapshot() ([]byte, error) { return nil, nil }
func (s *scripted) Close() error              { return nil }

// scriptedKit makes machines that start with effects and then answer each event.
func scriptedKit(start []engine.Effect, answer func(now engine.Instant, e engine.Event) []engine.Effect) Kit {
	return Kit{New: func(string, engine.Config) (machine.Machine, []engine.Effect, error) {
		return &scripted{answer}, start, nil
	}}
}

// honest is a machine that delivers messages within its runtime, and keeps all promises that one can keep so.
func honest() func(now engine.Instant, e engine.Event) []engine.Effect {
	msgs, delivery := map[uint64]uint64{}, uint64(0)
	return func(now engine.Instant, e engine.Event) []engine.Effect {
		switch e := e.(type) {
		case *engine.MessagePosted:
			delivery++
			msgs[delivery] = e.Msg
			return []engine.Effect{&engine.Deliver{Delivery: delivery, Msg: e.Msg, From: e.From, To: e.To, Path: "local"}, &engine.Wake{At: now + 30_000}}
		case *engine.DeliveryTaken:
			if msgs[e.Delivery] == 0 {
				return nil
			}
			return []engine.Effect{
				&engine.Settle{Msg: msgs[e.Delivery], Outcome: "delivered"}, &engine.Release{Msg: msgs[e.Delivery]},
			}
		case *engine.DeliveryRefused:
			return []engine.Effect{
				&engine.Settle{Msg: msgs[e.Delivery], Outcome: "rejected", Reason: e.Reason}, &engine.Release{Msg: msgs[e.Delivery]},
			}
		case *engine.TimePassed:
			return []engine.Effect{&engine.Wake{At: now + 30_000}}
		case *engine.JSONReceived:
			return []engine.Effect{&engine.Discard{JSON: e.JSON, Reason: "no-listener"}}
		case *engine.ExplanationAsked:
			return []engine.Effect{&engine.Explained{Job: e.Job, By: "none"}}
		}
		return nil
	}
}

// alone is a plan of one body that posts one message to itself.
func alone() *Plan {
	return &Plan{Seed: 1, Until: 2000, Bodies: []BodyPlan{{Domain: "d", Endpoints: []string{"hyperty://d/x", "hyperty://d/y"}}}, Actions: []Action{
		{At: 100, Do: Post, From: "hyperty://d/x", To: "hyperty://d/y", Count: 1, Size: 50},
		{At: 150, Do: Explain, From: "hyperty://d/x", To: "hyperty://d/y"},
	}}
}

func TestHonestMachinePasses(t *testing.T) {
	for _, mode := range []Action{{}, {Do: Slow, Mode: 0}, {Do: Slow, Mode: 1}, {Do: Slow, Mode: 2}} {
		p := alone()
		if mode.Do != "" {
			mode.At, mode.For = 100, 1000
			p.Actions = append([]Action{mode}, p.Actions...)
		}
		r := Run(p, scriptedKit(nil, honest()), nil)
		if r.Failure != nil {
			t.Errorf("%v: %v", mode, r.Failure)
		}
		if mode.Do == "" && r.Summary.Delivered != 1 {
			t.Errorf("%d delivered", r.Summary.Delivered)
		}
	}
}

// TestBrokenPromisesAreCaught gives the world machines that break one promise each.
func TestBrokenPromisesAreCaught(t *testing.T) {
	x := address.MustParse("hyperty://d/x")
	deploy := &engine.DeployNodeStub{Stub: 1, Domain: "d"}
	head, err := (&frame.Header{Tag: 1, Done: 1, Seen: 1}).Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	onPost := func(es ...engine.Effect) func() func(engine.Instant, engine.Event) []engine.Effect {
		return func() func(engine.Instant, engine.Event) []engine.Effect {
			h := honest()
			return func(now engine.Instant, e engine.Event) []engine.Effect {
				all := h(now, e)
				if _, ok := e.(*engine.MessagePosted); ok {
					all = append(all, es...)
				}
				return all
			}
		}
	}
	without := func(skip func(engine.Effect) bool) func() func(engine.Instant, engine.Event) []engine.Effect {
		return func() func(engine.Instant, engine.Event) []engine.Effect {
			h := honest()
			return func(now engine.Instant, e engine.Event) []engine.Effect {
				var all []engine.Effect
				for _, f := range h(now, e) {
					if !skip(f) {
						all = append(all, f)
					}
				}
				return all
			}
		}
	}
	is := func(want string) func(engine.Effect) bool {
		return func(e engine.Effect) bool {
			switch e.(type) {
			case *engine.Settle:
				return want == "settle"
			case *engine.Release:
				return want == "release"
			case *engine.Wake:
				return want == "wake"
			case *engine.Explained:
				return want == "explained"
			}
			return false
		}
	}
	posted := engine.Part{Msg: 1, Offset: 0, Length: 8}
	for name, c := range map[string]struct {
		rule  string
		start []engine.Effect
		make  func() func(engine.Instant, engine.Event) []engine.Effect
	}{
		"no settle":                {"wake-covers-waits", nil, without(is("settle"))},
		"no release":               {"nothing-leaks", nil, without(is("release"))},
		"no timer":                 {"wake-covers-waits", nil, without(is("wake"))},
		"no explanation":           {"explained-at-once", nil, without(is("explained"))},
		"explained unasked":        {"asked-once", nil, onPost(&engine.Explained{Job: 9})},
		"timer too late":           {"wake-covers-waits", nil, onPost(&engine.Wake{At: 70_000})},
		"timer in the past":        {"wake-ahead", nil, onPost(&engine.Wake{At: 1})},
		"settled twice":            {"settled-once", nil, onPost(&engine.Settle{Msg: 1, Outcome: "taken"}, &engine.Settle{Msg: 1, Outcome: "delivered"})},
		"unknown outcome":          {"known-words", nil, onPost(&engine.Settle{Msg: 1, Outcome: "lost"})},
		"unknown reason":           {"known-words", nil, onPost(&engine.Settle{Msg: 1, Outcome: "rejected", Reason: "bad luck"})},
		"unknown message":          {"known-message", nil, onPost(&engine.Settle{Msg: 7, Outcome: "delivered"})},
		"released twice":           {"released-once", nil, onPost(&engine.Release{Msg: 1}, &engine.Release{Msg: 1})},
		"answer given up unasked":  {"answer-once", nil, onPost(&engine.GiveUpAnswer{Msg: 1})},
		"used after release":       {"released-never-used", []engine.Effect{deploy}, onPost(&engine.Release{Msg: 1}, &engine.Forward{Msg: 1, Stub: 1})},
		"slice outside":            {"valid-numbers", []engine.Effect{deploy}, onPost(&engine.Transmit{Stub: 1, Handle: 1, Head: head, Parts: []engine.Part{{Msg: 1, Offset: 40, Length: 90}}})},
		"garbage head":             {"valid-frames", []engine.Effect{deploy}, onPost(&engine.Transmit{Stub: 1, Handle: 1, Head: []byte{9, 9}})},
		"payload nobody describes": {"valid-frames", []engine.Effect{deploy}, onPost(&engine.Transmit{Stub: 1, Handle: 1, Head: append([]byte{7}, 0x50, 0, 0, 0, 1, 0, 0), Parts: []engine.Part{posted}})},
		"handle never named":       {"defined-handle", []engine.Effect{deploy}, onPost(&engine.Transmit{Stub: 1, Handle: 1, Head: head})},
		"transmit without stub":    {"known-stub", nil, onPost(&engine.Transmit{Stub: 1, Handle: 1, Head: head})},
		"stub number twice":        {"fresh-numbers", []engine.Effect{deploy}, onPost(deploy)},
		"closed twice":             {"known-stub", []engine.Effect{deploy}, onPost(&engine.CloseStub{Stub: 1}, &engine.CloseStub{Stub: 1})},
		"job number twice":         {"fresh-numbers", []engine.Effect{deploy}, onPost(&engine.RefreshEndpoint{Job: 3, Stub: 1, Address: x}, &engine.RefreshEndpoint{Job: 3, Stub: 1, Address: x})},
		"back-end queried":         {"backend-never-queried", []engine.Effect{deploy}, onPost(&engine.QueryRegistry{Job: 1, Stub: 1, Resource: address.MustParse("domain://registry.d")})},
		"delivered to nobody":      {"registered-only", nil, onPost(&engine.Deliver{Delivery: 9, Msg: 1, From: x, To: address.MustParse("hyperty://d/z")})},
		"delivered twice":          {"history repeated", nil, onPost(&engine.Deliver{Delivery: 9, Msg: 1, From: x, To: address.MustParse("hyperty://d/y")})},
		"delivered as of another": {"history altered", nil, func() func(engine.Instant, engine.Event) []engine.Effect {
			h := honest()
			return func(now engine.Instant, e engine.Event) []engine.Effect {
				all := h(now, e)
				for _, f := range all {
					if d, ok := f.(*engine.Deliver); ok {
						d.From = address.MustParse("hyperty://d/z")
					}
				}
				return all
			}
		}},
		"hold of no frame":    {"balanced-payload", nil, onPost(&engine.Hold{Session: 1, Number: 1, Frame: 1, Length: 1})},
		"deliver of no chunk": {"balanced-payload", nil, onPost(&engine.Deliver{Delivery: 9, Session: 1, First: 1, Last: 1, From: x, To: x})},
		"no such JSON":        {"json-once", nil, onPost(&engine.Discard{JSON: 4, Reason: "no-listener"})},
		"unknown signal":      {"known-words", []engine.Effect{deploy}, onPost(&engine.Signal{Peer: x, Kind: "offer"})},
		"needless reset":      {"history needless", nil, onPost(&engine.SessionReset{Peer: x})},
	} {
		r := Run(alone(), scriptedKit(c.start, c.make()), nil)
		if r.Failure == nil || r.Failure.Rule != c.rule {
			t.Errorf("%s: want %s, got %v", name, c.rule, r.Failure)
		}
	}
}

// TestUnsettledAfterAFreezeIsCaught has a machine that sleeps over the time of a message and then does nothing about it.
func TestUnsettledAfterAFreezeIsCaught(t *testing.T) {
	p := alone()
	p.Until = 70_000
	p.Actions = append(p.Actions, Action{At: 50_000, Do: Freeze, For: 15_000})
	h := honest()
	r := Run(p, scriptedKit(nil, func(now engine.Instant, e engine.Event) []engine.Effect {
		switch e.(type) {
		case *engine.DeliveryTaken, *engine.TimePassed:
			return []engine.Effect{&engine.Wake{At: now + 1000}}
		}
		return h(now, e)
	}), nil)
	if r.Failure == nil || r.Failure.Rule != "settled-in-time" {
		t.Errorf("want settled-in-time, got %v", r.Failure)
	}
}
