package stubs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/runtime/message"
)

// Subprotocol is what a client of this protocol offers, and a node of it selects.
const Subprotocol = "hyroute.1"

// MaxMessage is the longest JSON message taken or sent, in bytes.
const MaxMessage = 1 << 20

// readSlack is how much a node may add to a message on its way.
const readSlack = 4 << 10

// attemptTime is how long one attempt to connect may take, the handshake included.
const attemptTime = 15 * time.Second

// maxDomain bounds what a node may call its domain.
const maxDomain = 256

// ErrUnsupportedNode says that there is a WebSocket server, and that it does not speak this protocol.
var ErrUnsupportedNode = errors.New("stubs: the server does not select the subprotocol " + Subprotocol)

// DialFunc opens the TCP connection to a node. It is that of net.Dialer.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Socket is a WebSocket whose node has said who it is.
type Socket struct {
	conn   *websocket.Conn
	wire   *wire
	nonce  string
	domain string
}

// Dial connects to the node at a URL (ws:// or wss://) and waits for its handshake, at most 15 s. dial is nil for the system's.
// The error says what failed; it is ErrUnsupportedNode where trying again is no use.
func Dial(ctx context.Context, node string, dial DialFunc) (*Socket, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	if dial == nil {
		dial = systemDial
	}
	s := &Socket{}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			s.wire = &wire{Conn: conn}
			return s.wire, nil
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	conn, response, err := websocket.Dial(ctx, node, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{Subprotocol}})
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("stubs: connect to %s: the server answered %s", node, response.Status)
		}
		if request := (*url.Error)(nil); errors.As(err, &request) {
			err = request.Err // what is around it says the same again
		}
		return nil, fmt.Errorf("stubs: connect to %s: %w", node, err)
	}
	s.conn = conn
	conn.SetReadLimit(MaxMessage + readSlack)
	if conn.Subprotocol() != Subprotocol {
		s.Close()
		return nil, fmt.Errorf("%w: %s", ErrUnsupportedNode, node)
	}
	if err := s.handshake(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("stubs: handshake of %s: %w", node, err)
	}
	return s, nil
}

func systemDial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Control: limitUnsent}
	return dialer.DialContext(ctx, network, address)
}

func (s *Socket) handshake(ctx context.Context) error {
	kind, text, err := s.conn.Read(ctx)
	if err != nil {
		return err
	}
	if kind != websocket.MessageText {
		return errors.New("the first message is binary")
	}
	m, err := message.Parse(text)
	if err != nil {
		return err
	}
	var body struct{ Nonce, Domain string }
	if m.Type != message.Handshake || json.Unmarshal(m.Body, &body) != nil {
		return fmt.Errorf("the first message is %q, not a handshake", m.Type)
	}
	if body.Nonce == "" || body.Domain == "" || len(body.Domain) > maxDomain {
		return errors.New("nonce or domain is missing or too long")
	}
	s.nonce, s.domain = body.Nonce, body.Domain
	return nil
}

// Domain is the domain that the node says it is of.
func (s *Socket) Domain() string { return s.domain }

// Close drops the connection without ceremony.
func (s *Socket) Close() { s.conn.CloseNow() }
