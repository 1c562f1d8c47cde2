package world

import "github.com/hyroute/hyroute/runtime/engine"

// socket is a WebSocket between a body and a node.
type socket struct {
	body       *body
	node       *node
	stub       *stub
	life       int // of the body that opened it
	up, down   *pipe
	token      bool // the body asks to go on where it left off
	attached   bool // the node knows it
	closed     bool // the body's end is closed
	handles    map[uint64]string
	named      map[string]uint64 // by runtime URL: its newest handle
	sources    map[string]uint64
	lastSource uint64
}

// dial opens a socket for a node stub and tells the machine how it went.
func (b *body) dial(s *stub) {
	n := b.w.node(s.domain)
	if s.socket != nil { // a connection that is there ends
		s.socket.die(false, true)
		s.socket = nil
	}
	b.tellStub(s, engine.StatusInProgress, false, "")
	s.dials++
	dial := s.dials
	delay := uint64(b.chance.between(5, 80))
	life := b.life
	b.w.after(delay, func() {
		if b.life != life || s.closed || s.dials != dial {
			return
		}
		if n == nil || !n.up || b.offline[n.number] > b.w.now {
			b.tellStub(s, engine.StatusDisconnected, false, "unreachable")
			return
		}
		b.open(s, n)
	})
}

func (b *body) open(s *stub, n *node) {
	if s.socket != nil {
		s.socket.die(false, true)
	}
	delay := uint64(b.chance.between(2, 60))
	k := &socket{body: b, node: n, stub: s, life: b.life, token: s.token, handles: map[uint64]string{}, named: map[string]uint64{}, sources: map[string]uint64{}}
	k.up = b.w.newPipe("up "+b.name+n.domain, delay, 5)
	k.down = b.w.newPipe("down "+b.name+n.domain, delay, 5)
	k.up.rate = b.rate
	k.up.onMark = func(blocked bool) { b.tellMark(s, blocked) }
	s.socket = k
	known := s.token
	s.token = true
	k.up.send(200, func() {
		resumed := n.up && n.attach(k)
		if known {
			k.down.send(200, func() {
				if s.socket == k {
					b.tellStub(s, engine.StatusLive, resumed, "")
				}
			})
		}
	})
	if !known {
		b.tellStub(s, engine.StatusLive, false, "")
	}
}

// die ends the socket; each end learns of it or not.
func (k *socket) die(bodyKnows, nodeKnows bool) {
	k.up.close()
	if nodeKnows || bodyKnows {
		k.down.close()
	}
	if nodeKnows && k.attached {
		k.attached = false
		k.node.detach(k)
	}
	if !k.closed && bodyKnows && k.life == k.body.life && k.stub.socket == k {
		k.stub.socket = nil
		if !k.stub.closed {
			k.body.tellStub(k.stub, engine.StatusDisconnected, false, "lost")
		}
	}
	k.closed = k.closed || bodyKnows
}
