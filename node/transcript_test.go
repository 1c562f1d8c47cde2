package node

import (
	"strings"
	"testing"
)

// The messages of the predecessors' clients, as they were on the wire, and what this node makes of each. The numbers are those
// of the transcript that they come from.
func TestTranscript(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Domain, c.AllowUnsigned = "localhost", true })
	nextAs := func(u *user, want string) {
		t.Helper()
		p, err := u.read()
		if err != nil {
			t.Fatal(err)
		}
		if string(p.bytes) != want {
			t.Fatalf("got  %s\nwant %s", p.bytes, want)
		}
	}
	const ok = `"body":{"code":200}}`

	// 2, 3: open. The token is new every time.
	b := w.legacy("runtime://localhost/bbbb-2")
	a := w.legacy("runtime://localhost/aaaa-1")
	if b.token == "" || a.token == b.token {
		t.Fatalf("tokens %q and %q", a.token, b.token)
	}

	// 4, 5: both names of the list subscribe.
	a.send(`{"id":11,"type":"subscribe","from":"runtime://localhost/aaaa-1/subscriptions","to":"domain://msg-node.localhost/sm","body":{"subscribe":["hyperty://localhost/h-a","runtime://localhost/aaaa-1/p2phandler/1"],"source":"hyperty://localhost/h-a"}}`)
	nextAs(a, `{"id":11,"type":"response","from":"domain://msg-node.localhost/sm","to":"runtime://localhost/aaaa-1/subscriptions",`+ok)
	a.send(`{"id":12,"type":"subscribe","from":"runtime://localhost/aaaa-1/sm","to":"domain://msg-node.localhost/sm","body":{"resources":["comm://localhost/obj1/changes"]}}`)
	nextAs(a, `{"id":12,"type":"response","from":"domain://msg-node.localhost/sm","to":"runtime://localhost/aaaa-1/sm",`+ok)

	// 6, 7: from addresses that nobody holds.
	b.send(`{"id":2,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":"A"}}}`)
	nextAs(a, `{"id":2,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":"A"}}}`)
	b.send(`{"id":3,"type":"update","from":"comm://localhost/obj1","to":"comm://localhost/obj1/changes","body":{"attribute":"x","value":1,"version":1,"source":"hyperty://localhost/h-b"}}`)
	nextAs(a, `{"id":3,"type":"update","from":"comm://localhost/obj1","to":"comm://localhost/obj1/changes","body":{"attribute":"x","value":1,"version":1,"source":"hyperty://localhost/h-b"}}`)

	// 8: a response goes where the request came from.
	b.send(`{"id":4,"type":"subscribe","from":"runtime://localhost/bbbb-2/subscriptions","to":"domain://msg-node.localhost/sm","body":{"subscribe":["hyperty://localhost/h-b"]}}`)
	nextAs(b, `{"id":4,"type":"response","from":"domain://msg-node.localhost/sm","to":"runtime://localhost/bbbb-2/subscriptions",`+ok)
	a.send(`{"id":2,"type":"response","from":"hyperty://localhost/h-a","to":"hyperty://localhost/h-b","body":{"code":200}}`)
	nextAs(b, `{"id":2,"type":"response","from":"hyperty://localhost/h-a","to":"hyperty://localhost/h-b",`+ok)

	// 9: allocation, and giving back by key.
	got := b.ask(`{"id":5,"type":"create","from":"runtime://localhost/bbbb-2/address-allocation","to":"domain://msg-node.localhost/address-allocation","body":{"value":{"number":2}}}`)
	b.expectCode(got, 200)
	urls := got["body"].(fields)["value"].(fields)["allocated"].([]any)
	if got["from"] != "domain://msg-node.localhost/address-allocation" || len(urls) != 2 || !strings.HasPrefix(urls[0].(string), "hyperty://localhost/") || urls[0] == urls[1] {
		t.Fatalf("allocated %v", got)
	}
	a.send(`{"id":90,"type":"update","from":"hyperty://localhost/h-a","to":"` + urls[1].(string) + `"}`)
	if got := b.next(); got["to"] != urls[1] {
		t.Fatalf("got %v", got)
	}
	comm := b.expect(200, `{"id":6,"type":"create","from":"runtime://localhost/bbbb-2/address-allocation","to":"domain://msg-node.localhost/address-allocation","body":{"scheme":"comm","value":{"number":1,"allocationKey":"runtime://localhost/bbbb-2"}}}`)
	object := comm["value"].(fields)["allocated"].([]any)[0].(string)
	if !strings.HasPrefix(object, "comm://localhost/") {
		t.Fatalf("allocated %v", object)
	}
	b.send(`{"id":7,"type":"delete","from":"runtime://localhost/bbbb-2/address-allocation","to":"domain://msg-node.localhost/address-allocation","body":{"resource":"runtime://localhost/bbbb-2"}}`)
	nextAs(b, `{"id":7,"type":"response","from":"domain://msg-node.localhost/address-allocation","to":"runtime://localhost/bbbb-2/address-allocation",`+ok)
	a.expect(404, `{"id":91,"type":"update","from":"hyperty://localhost/h-a","to":"`+object+`"}`)

	// 10: the Domain Registry.
	a.send(`{"id":13,"type":"create","from":"runtime://localhost/aaaa-1/registry/","to":"domain://registry.localhost","body":{"value":{"user":"user://localhost/bob","url":"hyperty://localhost/h-a","descriptor":"hyperty-catalogue://catalogue.localhost/.well-known/hyperty/Chat","expires":3600,"resources":["chat"],"dataSchemes":["comm"],"runtime":"runtime://localhost/aaaa-1","status":"live","p2pHandler":"runtime://localhost/aaaa-1/p2phandler/1","p2pRequester":"hyperty-catalogue://catalogue.localhost/.well-known/protocolstub/P2PRequester"},"policy":"policy"}}`)
	nextAs(a, `{"id":13,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/aaaa-1/registry/",`+ok)
	entry := func(status string) string {
		return `{"url":"hyperty://localhost/h-a","hypertyID":"hyperty://localhost/h-a","userID":"user://localhost/bob","runtime":"runtime://localhost/aaaa-1","status":"` + status +
			`","expires":3600,"startingTime":"2026-01-02T03:04:05Z","lastModified":"2026-01-02T03:04:05Z","dataSchemes":["comm"],"descriptor":"hyperty-catalogue://catalogue.localhost/.well-known/hyperty/Chat",` +
			`"p2pHandler":"runtime://localhost/aaaa-1/p2phandler/1","p2pRequester":"hyperty-catalogue://catalogue.localhost/.well-known/protocolstub/P2PRequester","resources":["chat"]}`
	}
	b.send(`{"id":8,"type":"read","from":"runtime://localhost/bbbb-2/registry/","to":"domain://registry.localhost","body":{"resource":"hyperty://localhost/h-a"}}`)
	nextAs(b, `{"id":8,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/bbbb-2/registry/","body":{"code":200,"value":`+entry("live")+`}}`)

	// 11: by user; keep-alive; disconnected.
	b.send(`{"id":9,"type":"read","from":"runtime://localhost/bbbb-2/registry/","to":"domain://registry.localhost","body":{"resource":"user://localhost/bob"}}`)
	nextAs(b, `{"id":9,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/bbbb-2/registry/","body":{"code":200,"value":{"hyperty://localhost/h-a":`+entry("live")+`}}}`)
	a.send(`{"id":14,"type":"update","from":"runtime://localhost/aaaa-1/registry/","to":"domain://registry.localhost","body":{"resource":"hyperty://localhost/h-a","value":{"status":"live"},"method":"refresh"}}`)
	nextAs(a, `{"id":14,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/aaaa-1/registry/",`+ok)
	a.send(`{"id":15,"type":"update","from":"runtime://localhost/aaaa-1/registry/","to":"domain://registry.localhost","body":{"resource":"hyperty://localhost/h-a","value":{"status":"disconnected"}}}`)
	nextAs(a, `{"id":15,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/aaaa-1/registry/",`+ok)

	// 12: a re-open without its token; unsubscribe; a message to nobody; an unknown type.
	b.send(`{"id":20,"type":"re-open","from":"runtime://localhost/bbbb-2","to":"mn:/session"}`)
	const incorrect = `"body":{"code":500,"desc":"Reconnection fail. Incorrect runtime token!","description":"Reconnection fail. Incorrect runtime token!"}}`
	nextAs(b, `{"id":20,"type":"response","from":"mn:/session","to":"runtime://localhost/bbbb-2",`+incorrect)
	b.send(`{"id":21,"type":"unsubscribe","from":"runtime://localhost/bbbb-2/subscriptions","to":"domain://msg-node.localhost/sm","body":{"unsubscribe":["hyperty://localhost/h-b"]}}`)
	nextAs(b, `{"id":21,"type":"response","from":"domain://msg-node.localhost/sm","to":"runtime://localhost/bbbb-2/subscriptions",`+ok)
	b.send(`{"id":22,"type":"update","from":"hyperty://localhost/h-b","to":"hyperty://nowhere.example/x","body":{}}`)
	nextAs(b, `{"id":22,"type":"response","from":"hyperty://nowhere.example/x","to":"hyperty://localhost/h-b","body":{"code":404,"desc":"hyperty://nowhere.example/x: nobody is here","description":"hyperty://nowhere.example/x: nobody is here"}}`)
	b.expect(400, `{"id":23,"type":"update","from":"runtime://localhost/bbbb-2","to":"domain://msg-node.localhost/sm","body":{}}`)

	// 13: no id; another scheme.
	b.send(`{"type":"update","from":"runtime://localhost/bbbb-2","to":"hyperty://localhost/h-a","body":{}}`)
	nextAs(b, `{"id":0,"type":"response","from":"mn:/validator","to":"runtime://localhost/bbbb-2","body":{"code":400,"desc":"id: missing","description":"id: missing"}}`)
	b.send(`{"id":24,"type":"update","from":"hello://localhost/x","to":"hyperty://localhost/h-a","body":{}}`)
	nextAs(a, `{"id":24,"type":"update","from":"hello://localhost/x","to":"hyperty://localhost/h-a","body":{}}`)

	// 15: what is disconnected is still described.
	b.send(`{"id":30,"type":"read","from":"runtime://localhost/bbbb-2/registry/","to":"domain://registry.localhost","body":{"resource":"hyperty://localhost/h-a"}}`)
	nextAs(b, `{"id":30,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/bbbb-2/registry/","body":{"code":408,"desc":"Temporarily Unavailable","description":"Temporarily Unavailable","value":`+entry("disconnected")+`}}`)
	b.expect(408, `{"id":30,"type":"read","from":"runtime://localhost/bbbb-2/registry/","to":"domain://registry.localhost","body":{"resource":"user://localhost/bob"}}`)

	// 16 to 18: the connections drop. With its token a client has all again; with a wrong one it is told, and opens.
	a.drop()
	b.drop()
	a2 := w.dial(false)
	a2.url = a.url
	a2.send(`{"id":2,"type":"re-open","from":"runtime://localhost/aaaa-1/` + a.token + `","to":"mn:/session"}`)
	nextAs(a2, `{"id":2,"type":"response","from":"mn:/session","to":"runtime://localhost/aaaa-1/`+a.token+`","body":{"code":200,"domain":"localhost","iceServers":[{"urls":["stun:stun.a.example"]}]}}`)
	b2 := w.dial(false)
	b2.url = b.url
	b2.send(`{"id":2,"type":"re-open","from":"runtime://localhost/bbbb-2/tok1","to":"mn:/session"}`)
	nextAs(b2, `{"id":2,"type":"response","from":"mn:/session","to":"runtime://localhost/bbbb-2/tok1",`+incorrect)
	b2.expect(200, `{"id":1,"type":"open","from":"runtime://localhost/bbbb-2","to":"mn:/session"}`)
	b2.send(`{"id":40,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":"again"}}}`)
	nextAs(a2, `{"id":40,"type":"create","from":"hyperty://localhost/h-b","to":"hyperty://localhost/h-a","body":{"value":{"hello":"again"}}}`)

	// 19: close.
	b2.send(`{"id":32,"type":"close","from":"runtime://localhost/bbbb-2","to":"mn:/session"}`)
	if code := b2.closed(); code != closeByClient {
		t.Errorf("closed with %d", code)
	}

	// 20: an unknown URL.
	b3 := w.legacy("runtime://localhost/bbbb-2")
	b3.send(`{"id":31,"type":"read","from":"runtime://localhost/bbbb-2/registry/","to":"domain://registry.localhost","body":{"resource":"hyperty://localhost/unknown"}}`)
	nextAs(b3, `{"id":31,"type":"response","from":"domain://registry.localhost","to":"runtime://localhost/bbbb-2/registry/","body":{"code":404,"desc":"hyperty://localhost/unknown: no such entry","description":"hyperty://localhost/unknown: no such entry"}}`)
}
