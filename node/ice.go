package node

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// ICEServer is one entry of RTCConfiguration.iceServers.
type ICEServer struct {
	URLs       []string `json:"urls"`
	Username   string   `json:"username,omitempty"`
	Credential string   `json:"credential,omitempty"`
}

// An Issuer gives out credentials of an ICE server that are good for a time. Its methods are safe for concurrent use.
type Issuer interface {
	// Issue gives credentials to a user, and says how long from now they are good for.
	Issue(user string) (ICEServer, time.Duration)
}

// Users that are no runtime with a key.
const (
	userCatalogue = "catalogue" // whoever reads the catalogue
	userUnsigned  = "unsigned"  // runtimes that proved nothing
)

// iceServers is what a user is told, as JSON, and how long that is good for; 0: for ever.
func (n *Node) iceServers(user string) (list []byte, lifetime time.Duration) {
	servers := append([]ICEServer{}, n.config.ICEServers...)
	if n.config.Issuer != nil {
		var issued ICEServer
		issued, lifetime = n.config.Issuer.Issue(user)
		servers = append(servers, issued)
	}
	list, _ = json.Marshal(servers) // strings can always be written
	return list, lifetime
}

// appendICE appends the fields of a body that tell this client's runtime its ICE servers, each behind a comma.
func (c *client) appendICE(b []byte, runtime address.Address) []byte {
	user := userUnsigned
	if address.IsRuntimeID(runtime.ID()) {
		user = runtime.ID()
	}
	list, lifetime := c.node.iceServers(user)
	b = append(append(b, `,"iceServers":`...), list...)
	if lifetime > 0 {
		b = strconv.AppendInt(append(b, `,"iceExpires":`...), int64(lifetime/time.Second), 10)
		c.told.Store(&toldICE{time.Now(), lifetime})
	}
	return b
}

// renewICE tells a client its ICE servers again before what it was told runs out.
func (c *client) renewICE() {
	s, told := c.session.Load(), c.told.Load()
	if s == nil || told == nil || !c.sessions || time.Since(told.at) < told.lifetime/2 {
		return
	}
	body := c.appendICE([]byte(`{"code":200`), s.seat.url)
	c.post(message.Envelope{Type: message.Update, From: sessionURL, To: s.seat.url.String(), Body: append(body, '}')})
}

// toldICE is when a client was told its ICE servers, and for how long they are good.
type toldICE struct {
	at       time.Time
	lifetime time.Duration
}
