package stubs

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

func TestQuestionsAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const registry = "domain://registry.a.example"
		s := newScripted(t, func(p *peer) {
			p.handshake(testDomain)
			p.open(taken)
			var asked []message.Envelope
			for range 7 {
				e, ok := p.read()
				if !ok {
					return
				}
				asked = append(asked, e)
			}
			runtime := strings.TrimSuffix(asked[0].From, "/sm")
			for i, want := range []string{
				`read {"resource":"hyperty://b.example/y"}`,
				`create {"value":{"url":"hyperty://a.example/x","runtime":"` + runtime + `","status":"live","expires":60,"sessions":1}}`,
				`update {"resource":"hyperty://a.example/x","method":"refresh"}`,
				`delete {"resource":"hyperty://a.example/x"}`,
				`unsubscribe {"unsubscribe":["hyperty://a.example/x"]}`,
				`read {"resource":"hyperty://b.example/y"}`,
				`read {"resource":"hyperty://b.example/y"}`,
			} {
				if got := asked[i].Type.String() + " " + string(asked[i].Body); got != want {
					t.Errorf("question %d: %s", i, got)
				}
			}
			answer := func(i int, body string) { p.say(asked[i].ID, message.Response, asked[i].To, asked[i].From, body) }
			// In another order than asked.
			answer(4, `{"code":200}`)
			answer(1, `{"code":403}`)
			answer(0, `{"code":200,"value":{"runtime":"runtime://b.example/r","status":"live","sessions":1}}`)
			answer(0, `{"code":200}`) // twice: passed over
			answer(2, `{"code":404}`)
			answer(3, `{}`)
			answer(5, `{"code":200,"value":{"runtime":"runtime://b.example/r","status":"disconnected"}}`)
			answer(6, `{"code":200,"value":{"runtime":"hyperty://b.example/r"}}`)
			p.say(99, message.Update, registry, "hyperty://b.example/y/registration", `{"value":"disconnected","resource":"hyperty://b.example/y"}`)
			p.say(98, message.Update, "hyperty://evil.example/x", "hyperty://b.example/z/registration", `{"value":"live"}`)
			p.say(97, message.Response, "mn:/frames", runtime, `{"code":400,"desc":"handle 9 is not defined"}`)
			p.say(96, message.Create, "hyperty://b.example/y", "hyperty://a.example/x", `{"value":"hi"}`)
			p.drain()
		})
		n, events := s.stub()
		n.Connect()
		status(t, events, Live)
		next[Opened](t, events)
		x, y := address.MustParse("hyperty://a.example/x"), address.MustParse("hyperty://b.example/y")
		for i, err := range []error{
			n.Query(10, address.MustParse(registry), y), n.Register(11, x, 60), n.Refresh(12, x), n.Unregister(13, x),
			n.Unsubscribe(14, []address.Address{x}), n.Query(15, address.MustParse(registry), y), n.Query(16, address.MustParse(registry), y),
		} {
			if err != nil {
				t.Fatal(i, err)
			}
		}
		for _, want := range []Answered{
			{Job: 14, Code: 200}, {Job: 11, Code: 403}, {Job: 10, Code: 200, Runtime: address.MustParse("runtime://b.example/r"), Sessions: true},
			{Job: 12, Code: 404}, {Job: 13, Code: 500}, {Job: 15, Code: 408}, {Job: 16, Code: 500},
		} {
			if got := (<-events).(Answered); got != want {
				t.Errorf("%+v, wanted %+v", got, want)
			}
		}
		if got := (<-events).(Notified); got != (Notified{Entity: y, Status: "disconnected"}) {
			t.Errorf("%+v", got)
		}
		if got := (<-events).(Received); got.Envelope.From != "hyperty://evil.example/x" {
			t.Errorf("a stranger's notification: %+v", got)
		}
		if got := (<-events).(Complained); got.Text != "mn:/frames: handle 9 is not defined" {
			t.Errorf("%+v", got)
		}
		if got := (<-events).(Received); got.Envelope.ID != 96 || string(got.Envelope.Body) != `{"value":"hi"}` {
			t.Errorf("%+v", got)
		}
	})
}

func TestQuestionsAreBounded(t *testing.T) {
	var q questions
	for i := range maxQuestions + 10 {
		q.add(question{job: uint64(i)})
	}
	if len(q.jobs) != maxQuestions {
		t.Errorf("%d are open", len(q.jobs))
	}
	if _, ok := q.take(firstID + 9); ok {
		t.Error("the oldest are still there")
	}
	if got, ok := q.take(firstID + 10); !ok || got.job != 10 {
		t.Errorf("%+v %v", got, ok)
	}
}
