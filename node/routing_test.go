package node

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

func TestMalformedJSON(t *testing.T) {
	w := newWorld(t, nil)
	u, other := w.enter(), w.enter()
	for text, field := range map[string]string{
		``:    "json",
		`{`:   "json",
		`[]`:  "json",
		`{}x`: "json",
		`{"id":7,"type":"create","from":"` + u.url + `","to":`:                                                    "to",
		`{"id":7,"type":"create","from":"` + u.url + `"}`:                                                         "to",
		`{"id":7,"from":"` + u.url + `","to":"hyperty://a.example/x"}`:                                            "type",
		`{"id":7,"type":"create","to":"hyperty://a.example/x"}`:                                                   "from",
		`{"id":7,"type":"create","from":"nonsense","to":"hyperty://a.example/x"}`:                                 "from",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"nonsense"}`:                                         "to",
		`{"id":7,"type":"create","from":"` + u.url + `","to":["hyperty://a.example/x"]}`:                          "to",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"hyperty://a.example/x","body":[]}`:                  "body",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"hyperty://a.example/x","to":"x"}`:                   "to",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"hyperty://a.example/` + strings.Repeat("x", 600):    "to",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"mn:/nothing"}`:                                      "to",
		`{"id":7,"type":"create","from":"` + u.url + `","to":"b://c/d","body":` + strings.Repeat(`{"a":`, 100000): "body",
	} {
		got := u.ask(text)
		u.expectCode(got, 400)
		desc := got["body"].(fields)["desc"].(string)
		if got["from"] != validatorURL || !strings.HasPrefix(desc, field+": ") {
			t.Errorf("%.60q: got %v", text, got)
		}
		if strings.Contains(text, `"id":7`) && got["id"] != float64(7) {
			t.Errorf("%.60q: id is %v", text, got["id"])
		}
		if to := got["to"]; strings.Contains(text, `"from":"`+u.url) && to != u.url || !strings.Contains(text, `"from"`) && to != clientURL {
			t.Errorf("%.60q: to is %v", text, to)
		}
	}
	u.quiet()
	other.quiet()
}

func TestUnknownType(t *testing.T) {
	w := newWorld(t, nil)
	u := w.enter()
	got := u.ask(`{"id":7,"type":"explode","from":"` + u.url + `","to":"hyperty://a.example/x"}`)
	u.expectCode(got, 400)
	if desc := got["body"].(fields)["desc"]; got["id"] != float64(7) || got["to"] != u.url || desc != `type: unknown: "explode"` {
		t.Errorf("got %v", got)
	}
	for _, to := range []string{"domain://msg-node.a.example/sm", "domain://registry.a.example", "domain://msg-node.a.example/address-allocation", "mn:/session"} {
		u.expect(400, `{"id":8,"type":"execute","from":"`+u.url+`","to":"`+to+`","body":{}}`)
	}
	for _, to := range []string{"domain://msg-node.a.example/other", "domain://registry.b.example", "domain://msg-node.b.example/sm", "global://other"} {
		u.expect(404, `{"id":8,"type":"create","from":"`+u.url+`","to":"`+to+`","body":{}}`)
	}
	u.quiet()
}

func TestTextThatIsNotUTF8(t *testing.T) {
	w := newWorld(t, nil)
	u, other := w.enter(), w.enter()
	u.send("{\"id\":1,\"type\":\"cre\xffate\"}")
	if code := u.closed(); code != websocket.StatusInvalidFramePayloadData {
		t.Errorf("closed with %d", code)
	}
	other.quiet()
}

func TestWrongFrom(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AllowUnsigned = true })
	a, mallory := w.enter(), w.enter()
	a.expect(200, create(a, "hyperty://a.example/alice", ""))
	a.expect(200, sub(a, "comm://a.example/board/changes"))
	allocated := a.expect(200, `{"id":3,"type":"create","from":"`+a.url+`","to":"domain://msg-node.a.example/address-allocation","body":{"value":{"number":1}}}`)
	mine := allocated["value"].(fields)["allocated"].([]any)[0].(string)
	mallory.expect(200, sub(mallory, "hyperty://a.example/alice"))
	old := w.legacy("runtime://a.example/legacy")
	for _, from := range []string{
		a.url, a.url + "/sm", a.url + "/p2p", "hyperty://a.example/alice", "hyperty://a.example/alice/status", mine,
		"domain://registry.a.example", "domain://msg-node.a.example/sm", "global://registry", "queue://a.example/x",
	} {
		for _, u := range []*user{mallory, old} {
			got := u.ask(`{"id":5,"type":"update","from":"` + from + `","to":"` + a.url + `","body":{}}`)
			u.expectCode(got, 403)
			if got["id"] != float64(5) || got["to"] != from || !strings.HasPrefix(got["body"].(fields)["desc"].(string), "from: ") {
				t.Errorf("got %v", got)
			}
		}
	}
	// What nobody holds is refused to a signed runtime until it has subscribed it.
	free := `{"id":6,"type":"update","from":"hyperty://a.example/free","to":"` + a.url + `","body":{}}`
	mallory.expect(403, free)
	mallory.expect(200, sub(mallory, "hyperty://a.example/free"))
	mallory.send(free)
	if got := a.next(); got["from"] != "hyperty://a.example/free" {
		t.Errorf("got %v", got)
	}
	for _, from := range []string{a.url, a.url + "/sm", "hyperty://a.example/alice", "hyperty://a.example/alice/x", mine} {
		a.send(`{"id":7,"type":"update","from":"` + from + `","to":"` + mallory.url + `","body":{}}`)
		if got := mallory.next(); got["from"] != from {
			t.Errorf("got %v", got)
		}
	}
	// To listen to an address is not to own what it is a part of.
	mallory.expect(200, sub(mallory, "comm://a.example/other/changes"))
	mallory.expect(403, `{"id":8,"type":"update","from":"comm://a.example/other/changes","to":"`+a.url+`","body":{}}`)
	a.quiet()
	mallory.quiet()
}

func TestSubscriptionsAreRefused(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Subscriptions = 3 })
	a, b := w.enter(), w.enter()
	list := func(code int, text string) {
		t.Helper()
		b.expect(code, `{"id":2,"type":"subscribe","from":"`+b.url+`","to":"domain://msg-node.a.example/sm","body":`+text+`}`)
	}
	for _, address := range []string{a.url, a.url + "/p2p", a.url + "/p2phandler/1", a.url + "/sm", "domain://registry.a.example", "global://registry"} {
		list(403, `{"subscribe":["hyperty://a.example/x","`+address+`"]}`)
	}
	// None of a refused list is subscribed.
	a.expect(404, `{"id":3,"type":"update","from":"`+a.url+`","to":"hyperty://a.example/x"}`)
	list(400, `{}`)
	list(400, `{"subscribe":[]}`)
	list(400, `{"subscribe":"hyperty://a.example/x"}`)
	list(400, `{"subscribe":[1]}`)
	list(400, `{"resources":["nonsense"]}`)
	list(200, `{"subscribe":["`+a.url+`/status"],"resources":["`+b.url+`/p2p"],"unsubscribe":["hyperty://a.example/x"]}`)
	list(200, `{"subscribe":["`+a.url+`/status","`+b.url+`/p2p"]}`)
	list(403, `{"subscribe":["hyperty://a.example/y"]}`)
	b.expect(200, `{"id":2,"type":"unsubscribe","from":"`+b.url+`","to":"domain://msg-node.a.example/sm","body":{"resources":["hyperty://a.example/x","hyperty://a.example/never"]}}`)
	list(200, `{"subscribe":["hyperty://a.example/y"]}`)
	b.expect(400, `{"id":2,"type":"subscribe","from":"`+b.url+`","to":"domain://msg-node.a.example/sm"}`)
}

func TestUnknownAddress(t *testing.T) {
	w := newWorld(t, nil)
	u := w.enter()
	for _, to := range []string{"hyperty://a.example/nobody", "hyperty://b.example/nobody", "runtime://a.example/nobody", "comm://a.example/o/changes", "queue://a.example/q"} {
		got := u.ask(`{"id":7,"type":"update","from":"` + u.url + `","to":"` + to + `","body":{}}`)
		u.expectCode(got, 404)
		if got["from"] != to || got["to"] != u.url || !strings.Contains(got["body"].(fields)["desc"].(string), to) {
			t.Errorf("got %v", got)
		}
		// An answer to nobody is not answered.
		u.send(`{"id":7,"type":"response","from":"` + u.url + `","to":"` + to + `","body":{"code":200}}`)
	}
	u.send(`{"id":7,"type":"response","from":"` + u.url + `","to":"domain://registry.a.example","body":{"code":200}}`)
	u.quiet()
}

func TestRoutes(t *testing.T) {
	w := newWorld(t, nil)
	a, b, c := w.enter(), w.enter(), w.enter()
	b.expect(200, create(b, "hyperty://a.example/bob", ""))
	for _, u := range []*user{a, b, c} {
		u.expect(200, sub(u, "comm://a.example/o/changes"))
		u.expect(200, sub(u, "hyperty://a.example/bob"))
		u.expect(200, sub(u, "hyperty://a.example/free"))
	}
	for _, test := range []struct {
		to      string
		reached []*user
	}{
		{"comm://a.example/o/changes", []*user{a, b, c}},
		{"hyperty://a.example/free", []*user{a, b, c}},
		{"hyperty://a.example/bob", []*user{b}},
		{"hyperty://a.example/bob/x/y", []*user{b}},
		{c.url, []*user{c}},
		{c.url + "/sm", []*user{c}},
		{c.url + "/p2p", []*user{c}},
		{strings.Replace(c.url, "runtime:", "hyperty-runtime:", 1), []*user{c}},
	} {
		a.send(`{"id":"42","type":"CREATE","x":[1],"from":"` + a.url + `","to":"` + test.to + `","body":{"value": {"__proto__":{"polluted":1}}}}`)
		for _, u := range test.reached {
			p, err := u.read()
			want := `{"id":42,"type":"create","from":"` + a.url + `","to":"` + test.to + `","body":{"value": {"__proto__":{"polluted":1}}}}`
			if err != nil || string(p.bytes) != want {
				t.Errorf("%s: got %s, %v", test.to, p.bytes, err)
			}
		}
		for _, u := range []*user{a, b, c} {
			u.quiet()
		}
	}
}

func TestProtoAsAddressPartKeyAndBody(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.enter(), w.enter()
	for _, url := range []string{"hyperty://a.example/__proto__", "hyperty://a.example/constructor", "__proto__://a.example/x", "hyperty://__proto__/__proto__"} {
		b.send(sub(b, url))
		got := b.next()
		if strings.HasPrefix(url, "_") {
			b.expectCode(got, 400)
			continue
		}
		b.expectCode(got, 200)
		a.send(`{"id":1,"__proto__":{"type":"open"},"type":"update","from":"` + a.url + `","to":"` + url + `","body":{"__proto__":{"code":200},"value":"__proto__"}}`)
		p, err := b.read()
		want := `{"id":1,"type":"update","from":"` + a.url + `","to":"` + url + `","body":{"__proto__":{"code":200},"value":"__proto__"}}`
		if err != nil || string(p.bytes) != want {
			t.Errorf("got %s, %v", p.bytes, err)
		}
	}
	a.expect(200, create(a, "hyperty://a.example/__proto__", `,"__proto__":{"status":"dead"},"constructor":1`))
	b.send(read(b, "hyperty://a.example/__proto__"))
	p, err := b.read()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Body struct {
			Code  int
			Value map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(p.bytes, &got); err != nil || got.Body.Code != 200 || string(got.Body.Value["status"]) != `"live"` || string(got.Body.Value["__proto__"]) != `{"status":"dead"}` {
		t.Errorf("got %s, %v", p.bytes, err)
	}
	a.expect(400, `{"id":1,"type":"__proto__","from":"`+a.url+`","to":"hyperty://a.example/x"}`)
}

func TestAllocation(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Allocations = 8 })
	a, b := w.enter(), w.enter()
	allocate := func(code int, body string) []any {
		t.Helper()
		got := a.expect(code, `{"id":3,"type":"create","from":"`+a.url+`","to":"domain://msg-node.a.example/address-allocation","body":`+body+`}`)
		if code != 200 {
			return nil
		}
		return got["value"].(fields)["allocated"].([]any)
	}
	for _, body := range []string{
		`{"value":{"number":0}}`, `{"value":{"number":-1}}`, `{"value":{"number":9}}`, `{"value":{"number":1.5}}`, `{"value":{"number":"1"}}`,
		`{"scheme":"domain"}`, `{"scheme":"runtime"}`, `{"scheme":"a b"}`, `{"scheme":"queue"}`, `{"value":7}`,
	} {
		allocate(400, body)
	}
	urls := allocate(200, `{}`)
	if len(urls) != 5 {
		t.Fatalf("allocated %v", urls)
	}
	allocate(403, `{"value":{"number":4}}`)
	b.expect(403, create(b, urls[0].(string), ""))
	release := func(u *user, code int, body string) {
		t.Helper()
		u.expect(code, `{"id":3,"type":"delete","from":"`+u.url+`","to":"domain://msg-node.a.example/address-allocation","body":`+body+`}`)
	}
	release(a, 400, `{}`)
	release(a, 400, `{"childrenResources":["nonsense"]}`)
	// Another's is not given back.
	release(b, 200, `{"childrenResources":["`+urls[0].(string)+`"]}`)
	b.send(`{"id":1,"type":"update","from":"` + b.url + `","to":"` + urls[0].(string) + `"}`)
	if got := a.next(); got["to"] != urls[0] {
		t.Errorf("got %v", got)
	}
	release(a, 200, `{"childrenResources":["`+urls[0].(string)+`"]}`)
	b.expect(404, `{"id":1,"type":"update","from":"`+b.url+`","to":"`+urls[0].(string)+`"}`)
	allocate(200, `{"value":{"number":4}}`)
}

func TestNothingOfPayloadsIsLogged(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.enter(), w.enter()
	a.send(`{"id":1,"type":"update","from":"` + a.url + `","to":"` + b.url + `","body":{"value":"secret-json"}}`)
	b.next()
	a.name(1, b.url)
	a.forward(1, "secret-frame")
	b.expectName(1, a.url)
	b.expectForward(1, "secret-frame")
	a.send(`{"secret-garbage`)
	a.next()
	a.drop()
	b.drop()
	for _, secret := range []string{"secret-", a.token} {
		if strings.Contains(w.log.String(), secret) {
			t.Errorf("%q stands in the log:\n%s", secret, w.log)
		}
	}
}
