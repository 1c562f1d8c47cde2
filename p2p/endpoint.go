package p2p

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/logging"
	"github.com/pion/transport/v5"
	"github.com/pion/webrtc/v4"

	"github.com/hyroute/hyroute/identity"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
	"github.com/hyroute/hyroute/stubs"
)

// DefaultMaxConnections is how many peer connections an endpoint has at once.
const DefaultMaxConnections = 64

// Timers of a connection.
const (
	// keepAlive is how often an idle path is checked.
	keepAlive = 2 * time.Second
	// iceDisconnected is a hint only: nothing is done about it.
	iceDisconnected = 5 * time.Second
	// iceFailed is long, because failed is final and a path that was cut for ten seconds should come back by itself.
	iceFailed = 60 * time.Second
	// maxChecks is how often a path is tried, five times a second, before it counts as none: as long as the connection is not
	// failed, a path that was cut when it was looked for must be found when it is back.
	maxChecks = 5 * uint16((iceDisconnected+iceFailed)/time.Second)
	// maxRTO bounds how long SCTP waits between two tries, and so how late it notices that a path is back.
	maxRTO = 2500 * time.Millisecond
	// receiveBuffer is what keeps a fast path full (measured on loopback: 256 KiB halves it, more than 4 MiB gains nothing).
	receiveBuffer = 4 << 20
	// maxMessageSize is what the peer may send at once; a frame is shorter.
	maxMessageSize = 64 << 10
)

// Options are what an endpoint starts from.
type Options struct {
	Runtime address.Address // own runtime URL
	Key     *identity.Key   // that Runtime names
	// Send takes a JSON message to the Message Node. It is called from many goroutines and must return at once.
	Send func(peer address.Address, e message.Envelope) error
	// MaxConnections bounds the peer connections at once; 0 means DefaultMaxConnections.
	MaxConnections int
	// Loopback keeps to addresses of this machine, without multicast DNS. It is for tests and for demonstrations without a network.
	Loopback bool
	// RelayOnly keeps to TURN servers: peers do not learn this machine's addresses, and nothing is tried that a strict network drops.
	RelayOnly bool
	// Net makes the sockets; nil means the system's. With it there is no multicast DNS.
	Net transport.Net
}

// Endpoint is the peer-to-peer side of one runtime. Its methods may be called from many goroutines and return at once.
type Endpoint struct {
	options Options
	api     *webrtc.API

	mu      sync.Mutex
	servers []webrtc.ICEServer
	stubs   map[attemptOf]*Stub
	waiting waitingRoom
	lastID  uint64
	closed  bool
}

// attemptOf names an attempt: each of two runtimes counts for itself.
type attemptOf struct {
	peer    address.Address
	attempt uint64
}

// New makes an endpoint without connections.
func New(o Options) (*Endpoint, error) {
	if !o.Runtime.IsRuntime() || o.Key == nil || o.Send == nil {
		return nil, errors.New("p2p: an endpoint needs a runtime URL, its key and a way to send")
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = DefaultMaxConnections
	}
	var s webrtc.SettingEngine
	s.DetachDataChannels()
	s.DisableActiveTCP(true) // nobody may make this runtime open TCP connections
	s.SetPrflxAcceptanceMinWait(0)
	s.SetSCTPMaxReceiveBufferSize(receiveBuffer)
	s.SetSCTPMaxMessageSize(maxMessageSize)
	s.SetSCTPRTOMax(maxRTO)
	s.SetICETimeouts(iceDisconnected, iceFailed, keepAlive)
	s.SetICEMaxBindingRequests(maxChecks)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeQueryOnly)
	s.LoggerFactory = &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	if o.Loopback {
		s.SetIncludeLoopbackCandidate(true)
		s.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
		s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	}
	if o.Net != nil {
		s.SetNet(o.Net)
		s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled) // it would go around Net
	}
	return &Endpoint{
		options: o,
		// Without media there is nothing to negotiate, and nothing to intercept.
		api:   webrtc.NewAPI(webrtc.WithSettingEngine(s), webrtc.WithMediaEngine(&webrtc.MediaEngine{}), webrtc.WithInterceptorRegistry(&interceptor.Registry{})),
		stubs: map[attemptOf]*Stub{},
	}, nil
}

// SetICEServers sets the STUN and TURN servers of connections made from now on.
func (e *Endpoint) SetICEServers(list []stubs.ICEServer) {
	var servers []webrtc.ICEServer
	for _, s := range list {
		servers = append(servers, webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	e.mu.Lock()
	e.servers = servers
	e.mu.Unlock()
}

// configuration is what connections are made with now.
func (e *Endpoint) configuration() webrtc.Configuration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.configurationLocked()
}

func (e *Endpoint) configurationLocked() webrtc.Configuration {
	c := webrtc.Configuration{ICEServers: e.servers}
	if e.options.RelayOnly {
		c.ICETransportPolicy = webrtc.ICETransportPolicyRelay
	}
	return c
}

// Dial makes a connection to peer and sends it an offer. sink gets the events of the stub: created, in-progress, then
// live and frames, and at the end disconnected (it was live) or failed.
func (e *Endpoint) Dial(peer address.Address, attempt uint64, sink func(stubs.Event)) *Stub {
	return e.start(peer, attempt, sink, true)
}

// Answer makes a connection out of the offer that came from peer with this attempt. Without such an offer it fails.
func (e *Endpoint) Answer(peer address.Address, attempt uint64, sink func(stubs.Event)) *Stub {
	return e.start(peer, attempt, sink, false)
}

func (e *Endpoint) start(peer address.Address, attempt uint64, sink func(stubs.Event), dial bool) *Stub {
	s := &Stub{
		endpoint: e,
		id:       attemptOf{peer, attempt},
		dials:    dial,
		sink:     sink,
		reports:  true,
		work:     make(chan struct{}, 1),
		low:      make(chan struct{}, 1),
		closing:  make(chan struct{}),
		done:     make(chan struct{}),
		since:    time.Now(),
	}
	e.mu.Lock()
	early := e.waiting.take(s.id)
	s.configuration = e.configurationLocked()
	switch {
	case e.closed:
		s.refusal = stubs.Changed{Status: stubs.Failed, Reason: "closed"}
	case len(e.stubs) >= e.options.MaxConnections:
		s.refusal = stubs.Changed{Status: stubs.Failed, Reason: "too-many", Err: fmt.Errorf("p2p: %d peer connections already", len(e.stubs))}
	case e.stubs[s.id] != nil:
		s.refusal = stubs.Changed{Status: stubs.Failed, Reason: "repeated", Err: errors.New("p2p: there is a connection of this attempt")}
	case !dial && early.offer == "":
		s.refusal = stubs.Changed{Status: stubs.Failed, Reason: "no-offer", Err: errors.New("p2p: no offer came with this attempt")}
	default:
		s.offer, s.early = early.offer, early.candidates
		e.stubs[s.id] = s
	}
	e.mu.Unlock()
	go s.run()
	return s
}

// forget takes a stub that is over out of the table.
func (e *Endpoint) forget(s *Stub) {
	e.mu.Lock()
	if e.stubs[s.id] == s {
		delete(e.stubs, s.id)
	}
	e.mu.Unlock()
}

// Close closes all stubs and waits until they are done.
func (e *Endpoint) Close() {
	e.mu.Lock()
	e.closed = true
	e.waiting = waitingRoom{}
	var open []*Stub
	for _, s := range e.stubs {
		open = append(open, s)
	}
	e.mu.Unlock()
	for _, s := range open {
		s.Close()
	}
	for _, s := range open {
		<-s.Done()
	}
}
