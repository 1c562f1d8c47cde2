package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
)

const x = "hyperty://a.example/x"

func update(u *user, address, more string) string {
	return `{"id":5,"type":"update","from":"` + u.url + `/registry","to":"domain://registry.a.example/","body":{"resource":"` + address + `"` + more + `}}`
}

func remove(u *user, address string) string {
	return `{"id":6,"type":"delete","from":"` + u.url + `/registry","to":"domain://registry.a.example","body":{"resource":"` + address + `"}}`
}

func TestRegistryEntryOfAnotherOverwritten(t *testing.T) {
	w := newWorld(t, nil)
	a, mallory := w.enter(), w.enter()
	a.expect(200, create(a, x, ""))
	mallory.expect(403, create(mallory, x, ""))
	mallory.expect(403, update(mallory, x, `,"value":{"status":"disconnected"}`))
	mallory.expect(403, update(mallory, x, `,"method":"refresh"`))
	mallory.expect(403, remove(mallory, x))
	mallory.expect(403, strings.ReplaceAll(create(mallory, "hyperty://a.example/y", ""), `"runtime":"`+mallory.url, `"runtime":"`+a.url))
	a.expect(403, update(a, x, `,"value":{"runtime":"`+mallory.url+`"}`))
	if v := mallory.expect(200, read(mallory, x))["value"].(fields); v["runtime"] != a.url || v["status"] != "live" || v["sessions"] != float64(1) || v["hypertyID"] != x || v["url"] != x {
		t.Errorf("value is %v", v)
	}
	// A dead entry is still its owner's, but anybody may make a new one.
	a.expect(200, update(a, x, `,"value":{"status":"disconnected"}`))
	mallory.expect(403, update(mallory, x, ""))
	mallory.expect(403, remove(mallory, x))
	mallory.expect(200, create(mallory, x, ""))
	a.expect(403, update(a, x, ""))
	if v := a.expect(200, read(a, x))["value"].(fields); v["runtime"] != mallory.url {
		t.Errorf("value is %v", v)
	}
}

func TestRegistryRefuses(t *testing.T) {
	w := newWorld(t, nil)
	u := w.enter()
	good := create(u, x, "")
	for _, test := range []struct{ old, new, field string }{
		{`"url":"` + x + `",`, ``, "body.value.url"},
		{`"url":"` + x + `"`, `"url":7`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"nonsense"`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"` + x + `/y"`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"domain://a.example/x"`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"runtime://a.example/x"`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"hyperty://b.example/x"`, "body.value.url"},
		{`"url":"` + x + `"`, `"url":"` + x + `","hypertyID":"` + x + `2"`, "body.value."},
		{`"runtime":"` + u.url + `",`, ``, "body.value.runtime"},
		{`"status":"live"`, `"status":"lively"`, "body.value.status"},
		{`"status":"live"`, `"status":1`, "body.value.status"},
		{`"sessions":1`, `"sessions":2`, "body.value.sessions"},
		{`"sessions":1`, `"expires":0`, "body.value.expires"},
		{`"sessions":1`, `"expires":-1`, "body.value.expires"},
		{`"sessions":1`, `"expires":"1"`, "body.value.expires"},
		{`"sessions":1`, `"expires":1.5`, "body.value.expires"},
		{`"sessions":1`, `"user":[]`, "body.value.user"},
		{`"sessions":1`, `"big":"` + strings.Repeat("x", 5000) + `"`, "body.value"},
		{`"body":{"value":{`, `"body":{"value":[{`, "body"},
		{`"body":`, `"no-body":`, "body"},
	} {
		text := strings.Replace(good, test.old, test.new, 1)
		if text == good {
			t.Fatalf("%q is not in %s", test.old, good)
		}
		if strings.Contains(test.new, "[{") {
			text = strings.TrimSuffix(text, "}}}") + "}]}}"
		}
		if desc := u.expect(400, text)["desc"].(string); !strings.HasPrefix(desc, test.field) {
			t.Errorf("%s: desc is %q", test.new, desc)
		}
	}
	u.expect(404, read(u, x))
	u.expect(404, update(u, x, ""))
	u.expect(404, remove(u, x))
	u.expect(400, read(u, ""))
	u.expect(400, read(u, "nonsense"))
	u.expect(404, read(u, "user://a.example/nobody"))
	u.expect(200, good)
	u.expect(400, update(u, x, `,"value":"disconnected"`))
	u.expect(400, update(u, x, `,"value":{"url":"`+x+`2"}`))
	u.expect(200, update(u, x, `,"value":"disconnected","attribute":"status"`))
	u.expect(408, read(u, x))
	u.expect(200, `{"id":6,"type":"delete","from":"`+u.url+`","to":"global://registry","body":{"value":{"url":"`+x+`"}}}`)
	u.expect(404, read(u, x))
}

func TestRegistryUpdateMerges(t *testing.T) {
	w := newWorld(t, nil)
	u := w.enter()
	u.expect(200, create(u, x, `,"a":1,"b":{"c":2},"user":"user://a.example/u","expires":7200`))
	if v := u.expect(200, read(u, x))["value"].(fields); v["expires"] != float64(3600) {
		t.Errorf("an hour is the most: %v", v)
	}
	u.expect(200, update(u, x, `,"value":{"b":3,"d":"four","sessions":0,"expires":60}`))
	w.clock.pass(time.Second)
	u.expect(200, create(u, "hyperty://a.example/y", ""))
	w.clock.pass(time.Second)
	u.expect(200, create(u, "hyperty://a.example/y", ""))
	if v := u.expect(200, read(u, "hyperty://a.example/y"))["value"].(fields); v["startingTime"] != "2026-01-02T03:04:06Z" || v["lastModified"] != "2026-01-02T03:04:07Z" {
		t.Errorf("value is %v", v)
	}
	v := u.expect(200, read(u, x))["value"].(fields)
	if v["a"] != float64(1) || v["b"] != float64(3) || v["d"] != "four" || v["expires"] != float64(60) || v["sessions"] != nil || v["userID"] != "user://a.example/u" {
		t.Errorf("value is %v", v)
	}
	u.expect(400, update(u, x, `,"value":{"e":"`+strings.Repeat("x", 5000)+`"}`))
	if after := u.expect(200, read(u, x))["value"].(fields); fmt.Sprint(after) != fmt.Sprint(v) {
		t.Errorf("a refused update left %v", after)
	}
}

func TestRegistryExpires(t *testing.T) {
	w := newWorld(t, nil)
	u, watcher := w.enter(), w.enter()
	watcher.expect(200, sub(watcher, x+"/registration"))
	u.expect(200, create(u, x, `,"expires":100`))
	watcher.expectNotification(x, "live")
	u.expect(200, create(u, "hyperty://a.example/earlier", `,"expires":50`))
	w.clock.pass(99 * time.Second)
	u.expect(200, update(u, x, `,"method":"refresh"`))
	w.clock.pass(99 * time.Second)
	u.expect(200, read(u, x))
	u.expect(408, read(u, "hyperty://a.example/earlier"))
	w.clock.pass(time.Second)
	watcher.expectNotification(x, "disconnected")
	if v := u.expect(408, read(u, x))["value"].(fields); v["status"] != "disconnected" || v["runtime"] != u.url {
		t.Errorf("value is %v", v)
	}
	// Messages go to the owner only while it is live.
	u.expect(404, `{"id":9,"type":"update","from":"`+u.url+`","to":"`+x+`"}`)
	u.expect(200, update(u, x, ""))
	watcher.expectNotification(x, "live")
	u.expect(200, read(u, x))
	u.expect(200, update(u, x, `,"value":{"expires":10}`))
	w.clock.pass(10 * time.Second)
	watcher.expectNotification(x, "disconnected")
	w.clock.pass(24 * time.Hour)
	u.expect(404, read(u, x))
	watcher.quiet()
	if n := w.clock.running(); n != 0 {
		t.Errorf("%d timers run for nothing", n)
	}
}

// What has ended is called disconnected from then on, also while the timer that notes it is late.
func TestExpiredBeforeTheTimer(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	e := engine.Entry{URL: address.MustParse(x), Runtime: address.MustParse("runtime://a.example/r"), Live: true, Expires: time.Minute, Modified: now}
	if b := string(entryBody(&e, now.Add(time.Minute-1))); !strings.HasPrefix(b, `{"code":200,`) || !strings.Contains(b, `"status":"live"`) {
		t.Error(b)
	}
	if b := string(entryBody(&e, now.Add(time.Minute))); !strings.HasPrefix(b, `{"code":408,`) || !strings.Contains(b, `"status":"disconnected"`) {
		t.Error(b)
	}
}

func TestRuntimeThatVanished(t *testing.T) {
	w := newWorld(t, nil)
	u, watcher := w.enter(), w.enter()
	watcher.expect(200, sub(watcher, x+"/registration"))
	u.expect(200, create(u, x, ""))
	watcher.expectNotification(x, "live")
	u.expect(200, create(u, "hyperty://a.example/off", `,"expires":3`))
	// A timer that fires when its runtime is back changes nothing.
	w.node.absent(w.node.sessionOf(address.MustParse(u.url)).seat)
	watcher.expect(200, read(watcher, x))

	u.drop()
	w.clock.pass(9 * time.Second)
	watcher.expect(200, read(watcher, x))
	back := w.dial(true)
	back.key = u.key
	back.expect(200, back.openMessage("re-open", u.token))
	w.clock.pass(10 * time.Minute)
	watcher.expect(200, read(watcher, x))

	back.drop()
	w.clock.pass(10 * time.Second)
	watcher.expectNotification(x, "disconnected")
	watcher.expect(408, read(watcher, x))
	// With its subscriptions its entries come back, those left out that ended.
	third := w.dial(true)
	third.key = u.key
	third.expect(200, third.openMessage("re-open", u.token))
	watcher.expectNotification(x, "live")
	watcher.expect(200, read(watcher, x))
	watcher.expect(408, read(watcher, "hyperty://a.example/off"))

	// A runtime that opens anew has to say what lives.
	third.drop()
	w.clock.pass(10 * time.Second)
	watcher.expectNotification(x, "disconnected")
	fourth := w.dial(true)
	fourth.open(u.key)
	watcher.expect(408, read(watcher, x))
	fourth.expect(200, create(fourth, x, `,"expires":20`))
	watcher.expectNotification(x, "live")

	// What would have ended in the meantime stays ended.
	fourth.drop()
	w.clock.pass(10 * time.Second)
	watcher.expectNotification(x, "disconnected")
	w.clock.pass(20 * time.Second)
	fifth := w.dial(true)
	fifth.key = u.key
	fifth.expect(200, fifth.openMessage("re-open", fourth.token))
	watcher.expect(408, read(watcher, x))
	watcher.quiet()
}

func TestRegistryIsBounded(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Entries, c.Limits.AllEntries = 3, 5 })
	a, b := w.enter(), w.enter()
	url := func(i int) string { return fmt.Sprintf("hyperty://a.example/%d", i) }
	for i := range 3 {
		a.expect(200, create(a, url(i), ""))
	}
	a.expect(403, create(a, url(3), ""))
	a.expect(200, create(a, url(2), `,"more":1`))
	for i := 3; i < 5; i++ {
		b.expect(200, create(b, url(i), ""))
	}
	b.expect(503, create(b, url(5), ""))
	a.expect(200, remove(a, url(0)))
	b.expect(200, create(b, url(5), ""))
	for range 1000 {
		b.expect(200, remove(b, url(5)))
		b.expect(200, create(b, url(5), ""))
	}
	w.node.expiry.mu.Lock()
	defer w.node.expiry.mu.Unlock()
	if n, m := len(w.node.expiry.queue), len(w.node.expiry.watched); n != 5 || m != 5 {
		t.Errorf("5 entries are watched %d and %d times", n, m)
	}
}

func TestUserAndDataObject(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.enter(), w.enter()
	a.expect(200, create(a, x, `,"user":"user://a.example/u"`))
	b.expect(200, create(b, "comm://a.example/o", `,"user":"user://a.example/u","schema":"s"`))
	both := b.expect(200, read(b, "user://a.example/u"))["value"].(fields)
	if len(both) != 2 || both[x].(fields)["runtime"] != a.url || both["comm://a.example/o"].(fields)["schema"] != "s" {
		t.Errorf("value is %v", both)
	}
	if _, ok := both["comm://a.example/o"].(fields)["hypertyID"]; ok {
		t.Error("a data object has a hypertyID")
	}
	a.expect(200, update(a, x, `,"value":{"status":"dead"}`))
	b.expect(200, read(b, "user://a.example/u"))
	b.expect(200, update(b, "comm://a.example/o", `,"value":{"status":"disconnected"}`))
	b.expect(408, read(b, "user://a.example/u"))
}
