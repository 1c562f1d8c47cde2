package native

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"
)

// Of bytes that wait to be written: the sender waits above most, until least are left.
const most, least = 1 << 20, 1 << 18

// channel is a bare data channel, negotiated and ordered, signalled over the bare WebSocket relay. It is not repaired.
type channel struct {
	line *webrtc.DataChannel
	low  chan struct{}
}

func (c *channel) address() string { return "" }

func (c *channel) send(message []byte) error {
	if err := c.line.Send(message); err != nil {
		return err
	}
	for c.line.BufferedAmount() > most {
		<-c.low
	}
	return nil
}

// signal is what the two ends tell each other.
type signal struct {
	Description *webrtc.SessionDescription `json:"description,omitempty"`
	Candidate   *webrtc.ICECandidateInit   `json:"candidate,omitempty"`
}

// openChannel resolves in role a when the channel is open, in role b when it can be offered one.
func openChannel(ctx context.Context, o options, receive func(message []byte, direct bool)) (*channel, error) {
	connection, err := webrtc.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	negotiated, id := true, uint16(0)
	line, err := connection.CreateDataChannel("bench", &webrtc.DataChannelInit{Negotiated: &negotiated, ID: &id})
	if err != nil {
		return nil, err
	}
	c := &channel{line, make(chan struct{}, 1)}
	line.SetBufferedAmountLowThreshold(least)
	line.OnBufferedAmountLow(func() {
		select {
		case c.low <- struct{}{}:
		default:
		}
	})
	line.OnMessage(func(m webrtc.DataChannelMessage) { receive(m.Data, true) })
	opened := make(chan struct{})
	line.OnOpen(sync.OnceFunc(func() { close(opened) }))

	socket, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://127.0.0.1:%d/?room=%s", o.Port, o.Room), nil)
	if err != nil {
		return nil, err
	}
	talk := &signalling{connection: connection, socket: socket}
	connection.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate != nil {
			init := candidate.ToJSON()
			talk.tell(signal{Candidate: &init})
		}
	})
	failed := make(chan error, 1)
	go func() { failed <- talk.listen() }()
	if o.Role == "b" {
		return c, nil
	}
	if err := talk.describe(connection.CreateOffer(nil)); err != nil {
		return nil, err
	}
	select {
	case <-opened:
		return c, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// signalling sets a connection up. Candidates wait for the description.
type signalling struct {
	connection *webrtc.PeerConnection
	socket     *websocket.Conn
	early      []webrtc.ICECandidateInit
}

func (t *signalling) tell(s signal) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return t.socket.Write(context.Background(), websocket.MessageText, text)
}

// describe makes a description ours and tells it.
func (t *signalling) describe(description webrtc.SessionDescription, err error) error {
	if err != nil {
		return err
	}
	if err := t.connection.SetLocalDescription(description); err != nil {
		return err
	}
	return t.tell(signal{Description: &description})
}

// listen takes the other end's signals until the socket ends.
func (t *signalling) listen() error {
	for {
		_, text, err := t.socket.Read(context.Background())
		if err != nil {
			return err
		}
		var s signal
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if err := t.take(s); err != nil {
			return err
		}
	}
}

func (t *signalling) take(s signal) error {
	if s.Candidate != nil && t.connection.RemoteDescription() == nil {
		t.early = append(t.early, *s.Candidate)
		return nil
	}
	if s.Candidate != nil {
		return t.connection.AddICECandidate(*s.Candidate)
	}
	if s.Description == nil {
		return nil
	}
	if err := t.connection.SetRemoteDescription(*s.Description); err != nil {
		return err
	}
	for _, candidate := range t.early {
		if err := t.connection.AddICECandidate(candidate); err != nil {
			return err
		}
	}
	t.early = nil
	if s.Description.Type != webrtc.SDPTypeOffer {
		return nil
	}
	return t.describe(t.connection.CreateAnswer(nil))
}
