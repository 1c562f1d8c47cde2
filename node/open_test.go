package node

import (
	"strings"
	"testing"
	"time"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
)

func TestOpenSigned(t *testing.T) {
	w := newWorld(t, nil)
	u := w.dial(true)
	key, _ := identity.New()
	u.key = key
	answer := u.ask(u.openMessage("open", ""))
	u.expectCode(answer, 200)
	body := answer["body"].(fields)
	servers := body["iceServers"].([]any)[0].(fields)["urls"].([]any)
	if answer["from"] != sessionURL || answer["to"] != u.url || len(body["runtimeToken"].(string)) != 36 || body["domain"] != domain || servers[0] != "stun:stun.a.example" {
		t.Errorf("answer is %v", answer)
	}
	u.token = body["runtimeToken"].(string)
	again := u.expect(200, u.openMessage("open", ""))
	if again["runtimeToken"] != u.token {
		t.Errorf("opened twice on one socket: token %v, was %v", again["runtimeToken"], u.token)
	}
	other, _ := identity.New()
	mine := u.key
	u.key = other
	u.expect(403, u.openMessage("open", ""))
	u.key = mine
	u.openMessage("open", "")
	u.quiet()
}

func TestOpenRefuses(t *testing.T) {
	w := newWorld(t, nil)
	u := w.dial(true)
	u.key, _ = identity.New()
	other, _ := identity.New()
	good := u.openMessage("open", "")
	for name, test := range map[string]struct {
		code int
		text string
	}{
		"no signature":     {401, `{"id":1,"type":"open","from":"` + u.url + `","to":"mn:/session"}`},
		"another nonce":    {401, strings.ReplaceAll(good, u.nonce, identity.Nonce())},
		"another key":      {403, strings.ReplaceAll(good, u.key.Public(), other.Public())},
		"another domain":   {401, strings.ReplaceAll(good, "runtime://a.example", "runtime://b.example")},
		"key is a number":  {400, strings.ReplaceAll(good, `"`+u.key.Public()+`"`, "7")},
		"key is short":     {400, strings.ReplaceAll(good, u.key.Public(), "AAAA")},
		"no runtime URL":   {400, strings.ReplaceAll(good, "runtime://a.example", "hyperty://a.example")},
		"a component":      {400, strings.ReplaceAll(good, u.url, u.url+"/sm")},
		"no address":       {400, strings.ReplaceAll(good, u.url, "nonsense")},
		"another type":     {400, strings.ReplaceAll(good, `"open"`, `"create"`)},
		"close of nothing": {403, strings.ReplaceAll(good, `"open"`, `"close"`)},
		"unknown token":    {500, u.openMessage("re-open", "no-such-token")},
		"re-open bare":     {500, strings.ReplaceAll(good, `"open"`, `"re-open"`)},
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			body := u.expect(test.code, test.text)
			if test.code == 401 && body["nonce"] != u.nonce {
				t.Errorf("no nonce to sign in %v", body)
			}
		})
	}
	u.t = t
	u.expect(403, `{"id":1,"type":"update","from":"`+u.url+`","to":"hyperty://a.example/x"}`)
	u.expect(200, good)
}

// A client that did not offer the subprotocol learns the nonce from the 401.
func TestOpenSignedWithoutSubprotocol(t *testing.T) {
	w := newWorld(t, nil)
	u := w.dial(false)
	key, _ := identity.New()
	url, _ := key.RuntimeURL(domain)
	u.nonce = u.expect(401, `{"id":1,"type":"open","from":"`+url.String()+`","to":"mn:/session"}`)["nonce"].(string)
	u.open(key)
	u.quiet()
}

func TestSecondOpenOfALiveRuntimeWithoutProof(t *testing.T) {
	for _, allow := range []bool{false, true} {
		w := newWorld(t, func(c *Config) { c.AllowUnsigned = allow })
		u := w.enter()
		thief := w.dial(true)
		thief.expect(409, `{"id":1,"type":"open","from":"`+u.url+`","to":"mn:/session"}`)
		if allow {
			elder := w.legacy("runtime://a.example/legacy")
			thief.expect(409, `{"id":1,"type":"open","from":"`+elder.url+`","to":"mn:/session"}`)
			elder.quiet()
		}
		u.quiet()
	}
}

func TestUnsignedOpen(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AllowUnsigned = true })
	u := w.legacy("runtime://a.example/legacy")
	u.quiet()
	// An id that only a key can have is for that key alone, also while its runtime is away.
	key, _ := identity.New()
	url, _ := key.RuntimeURL(domain)
	thief := w.dial(false)
	thief.expect(401, `{"id":1,"type":"open","from":"`+url.String()+`","to":"mn:/session"}`)
	signed := w.dial(true)
	signed.open(key)
	signed.drop()
	thief.expect(401, `{"id":1,"type":"open","from":"`+url.String()+`","to":"mn:/session"}`)
	// The token of an unsigned runtime is its proof.
	w2 := w.dial(false)
	w2.url = u.url
	w2.expect(500, `{"id":2,"type":"re-open","from":"`+u.url+`/x","to":"mn:/session"}`)
	w2.expect(200, `{"id":2,"type":"re-open","from":"`+u.url+"/"+u.token+`","to":"mn:/session"}`)
	if code := u.closed(); code != closeReplaced {
		t.Errorf("the elder is closed with %d", code)
	}
	w2.quiet()
}

func TestSignedOpenTakesOver(t *testing.T) {
	w := newWorld(t, nil)
	elder, watcher := w.enter(), w.enter()
	elder.expect(200, sub(elder, "hyperty://a.example/x"))
	younger := w.dial(true)
	younger.open(elder.key)
	if younger.token == elder.token {
		t.Error("the token is the elder's")
	}
	if code := elder.closed(); code != closeReplaced {
		t.Errorf("the elder is closed with %d", code)
	}
	watcher.expect(404, `{"id":2,"type":"update","from":"`+watcher.url+`","to":"hyperty://a.example/x"}`)
	third := w.dial(true)
	third.key = elder.key
	third.expect(500, third.openMessage("re-open", elder.token))
	younger.quiet()
}

func TestReOpenKeepsSubscriptions(t *testing.T) {
	w := newWorld(t, nil)
	elder, sender := w.enter(), w.enter()
	elder.expect(200, sub(elder, "comm://a.example/o/changes"))
	allocated := elder.expect(200, `{"id":3,"type":"create","from":"`+elder.url+`","to":"domain://msg-node.a.example/address-allocation","body":{"value":{"number":1}}}`)
	address := allocated["value"].(fields)["allocated"].([]any)[0].(string)
	elder.drop()
	w.clock.pass(59 * time.Second)
	sender.expect(404, `{"id":4,"type":"update","from":"`+sender.url+`","to":"comm://a.example/o/changes"}`)

	younger := w.dial(true)
	younger.key = elder.key
	unsigned := `{"id":1,"type":"re-open","from":"` + elder.url + "/" + elder.token + `","to":"mn:/session"}`
	younger.expect(401, unsigned)
	body := younger.expect(200, younger.openMessage("re-open", elder.token))
	if _, ok := body["runtimeToken"]; ok {
		t.Errorf("a re-open gives a new token: %v", body)
	}
	for _, to := range []string{"comm://a.example/o/changes", address} {
		sender.send(`{"id":5,"type":"update","from":"` + sender.url + `","to":"` + to + `","body":{"value":1}}`)
		if got := younger.next(); got["to"] != to || got["from"] != sender.url {
			t.Errorf("got %v", got)
		}
	}
	w.clock.pass(10 * time.Minute)
	younger.quiet()
}

func TestReOpenOverALiveSocket(t *testing.T) {
	w := newWorld(t, nil)
	elder := w.enter()
	younger := w.dial(true)
	younger.key = elder.key
	younger.expect(200, younger.openMessage("re-open", elder.token))
	if code := elder.closed(); code != closeReplaced {
		t.Errorf("the elder is closed with %d", code)
	}
	younger.expect(200, younger.openMessage("re-open", elder.token))
	younger.quiet()
	w.clock.pass(10 * time.Minute)
	younger.quiet()
}

func TestSessionIsForgotten(t *testing.T) {
	w := newWorld(t, nil)
	u := w.enter()
	u.expect(200, sub(u, "comm://a.example/o/changes"))
	u.drop()
	w.clock.pass(60 * time.Second)
	if s := w.node.sessionOf(address.MustParse(u.url)); s != nil {
		t.Errorf("session %+v is still there", s)
	}
	again := w.dial(true)
	again.key = u.key
	again.expect(500, again.openMessage("re-open", u.token))
	// The same socket goes on with an open, and has nothing of the session that is over.
	again.open(u.key)
	again.expect(404, `{"id":2,"type":"update","from":"`+u.url+`","to":"comm://a.example/o/changes"}`)
	again.drop()
	w.clock.pass(60 * time.Second)
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	if len(w.node.seats) != 0 {
		t.Errorf("seats %v are still there", w.node.seats)
	}
}

func TestClose(t *testing.T) {
	w := newWorld(t, nil)
	u, watcher := w.enter(), w.enter()
	watcher.expect(200, sub(watcher, "hyperty://a.example/x/registration"))
	u.expect(200, create(u, "hyperty://a.example/x", ""))
	watcher.expectNotification("hyperty://a.example/x", "live")
	other := w.enter()
	u.expect(403, `{"id":2,"type":"close","from":"`+other.url+`","to":"mn:/session"}`)
	u.send(`{"id":2,"type":"close","from":"` + u.url + `","to":"mn:/session"}`)
	if code := u.closed(); code != closeByClient {
		t.Errorf("closed with %d", code)
	}
	watcher.expectNotification("hyperty://a.example/x", "disconnected")
	watcher.expect(404, read(watcher, "hyperty://a.example/x"))
	again := w.dial(true)
	again.key = u.key
	again.expect(500, again.openMessage("re-open", u.token))
	w.until("the seat of a runtime that closed is given up", func() bool {
		w.node.mu.Lock()
		defer w.node.mu.Unlock()
		return len(w.node.seats) == 2
	})
}

// The node takes everything of one flight in order: what follows an open need not wait for its answer.
func TestOneFlight(t *testing.T) {
	w := newWorld(t, nil)
	bob := w.enter()
	bob.expect(200, create(bob, "hyperty://a.example/bob", ""))
	u := w.dial(true)
	u.key, _ = identity.New()
	flight := []string{u.openMessage("open", ""), sub(u, "hyperty://a.example/u/registration"), create(u, "hyperty://a.example/u", ""), read(u, "hyperty://a.example/bob")}
	for _, text := range flight {
		u.send(text)
	}
	u.name(1, bob.url)
	u.forward(1, "at once")
	u.expectCode(u.next(), 200)
	u.expectCode(u.next(), 200)
	u.expectNotification("hyperty://a.example/u", "live")
	u.expectCode(u.next(), 200)
	if v := u.next()["body"].(fields)["value"].(fields); v["runtime"] != bob.url {
		t.Errorf("read %v", v)
	}
	bob.expectName(1, u.url)
	bob.expectForward(1, "at once")
}

func sub(u *user, address string) string {
	return `{"id":2,"type":"subscribe","from":"` + u.url + `/sm","to":"domain://msg-node.a.example/sm","body":{"resources":["` + address + `"]}}`
}

// create registers an address; more is further members of the value.
func create(u *user, address, more string) string {
	return `{"id":3,"type":"create","from":"` + u.url + `/registry","to":"domain://registry.a.example","body":{"value":{"url":"` + address +
		`","runtime":"` + u.url + `","status":"live","sessions":1` + more + `}}}`
}

func read(u *user, address string) string {
	return `{"id":4,"type":"read","from":"` + u.url + `/registry","to":"domain://registry.a.example","body":{"resource":"` + address + `"}}`
}

func (u *user) expectNotification(entity, value string) {
	u.t.Helper()
	got := u.next()
	body, _ := got["body"].(fields)
	if got["type"] != "update" || got["from"] != "domain://registry.a.example" || got["to"] != entity+"/registration" || body["value"] != value || body["resource"] != entity {
		u.t.Fatalf("wanted the notification that %s is %s, got %v", entity, value, got)
	}
}
