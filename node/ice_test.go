package node

import (
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hyroute/hyroute/identity"
)

// issuer numbers what it gives out.
type issuer struct {
	lifetime time.Duration
	issued   atomic.Int64
}

func (i *issuer) Issue(user string) (ICEServer, time.Duration) {
	name := strconv.FormatInt(i.issued.Add(1), 10) + ":" + user
	return ICEServer{URLs: []string{"turn:turn.a.example"}, Username: name, Credential: "secret of " + name}, i.lifetime
}

// turnUser is the user that a body names for the issued server, which stands behind the configured one.
func turnUser(t *testing.T, body fields) string {
	t.Helper()
	servers, _ := body["iceServers"].([]any)
	if len(servers) != 2 {
		t.Fatalf("ICE servers: %v", body)
	}
	server := servers[1].(fields)
	name, _ := server["username"].(string)
	if server["credential"] != "secret of "+name || server["urls"].([]any)[0] != "turn:turn.a.example" {
		t.Errorf("ICE server: %v", server)
	}
	return name
}

func TestRuntimesGetCredentialsOfTheirOwn(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AllowUnsigned, c.Issuer = true, &issuer{lifetime: time.Hour} })
	u := w.dial(true)
	u.key, _ = identity.New()
	body := u.expect(200, u.openMessage("open", ""))
	id := u.url[len("runtime://a.example/"):]
	if name := turnUser(t, body); name != "1:"+id || body["iceExpires"] != 3600.0 {
		t.Errorf("user %s for %v s", name, body["iceExpires"])
	}
	again := w.dial(true)
	again.key = u.key
	if name := turnUser(t, again.expect(200, again.openMessage("re-open", body["runtimeToken"].(string)))); name != "2:"+id {
		t.Errorf("user %s after a re-open", name)
	}
	old := w.dial(false)
	if name := turnUser(t, old.expect(200, `{"id":1,"type":"open","from":"runtime://a.example/x","to":"mn:/session"}`)); name != "3:unsigned" {
		t.Errorf("user %s of a runtime that proved nothing", name)
	}
}

func TestCredentialsAreRenewedInTime(t *testing.T) {
	w := newWorld(t, func(c *Config) {
		c.Limits.PingEvery, c.Limits.PingLimit = 5*time.Millisecond, patience
		c.Issuer = &issuer{lifetime: 100 * time.Millisecond}
	})
	u := w.enter()
	told := time.Now()
	for renewal := 2; renewal < 5; renewal++ {
		m := u.next()
		if m["type"] != "update" || m["from"] != sessionURL || m["to"] != u.url {
			t.Fatalf("got %v", m)
		}
		if name := turnUser(t, m["body"].(fields)); name[:2] != strconv.Itoa(renewal)+":" {
			t.Errorf("renewal %d is for user %s", renewal, name)
		}
		if since := time.Since(told); since < 50*time.Millisecond {
			t.Errorf("renewed after %v", since)
		}
		told = time.Now().Add(-10 * time.Millisecond) // it left before it was read
	}
}

func TestCatalogueHasCredentials(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Issuer = &issuer{lifetime: time.Minute} })
	want := `{"name":"default","constraints":{"browser":true},"configuration":{"url":"` + w.url() + `","domain":"a.example","iceServers":[{"urls":["stun:stun.a.example"]},` +
		`{"urls":["turn:turn.a.example"],"username":"1:catalogue","credential":"secret of 1:catalogue"}],"iceExpires":60}}`
	if got := body(t, w.get("/.well-known/protocolstub/default.json")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
