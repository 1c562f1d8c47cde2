package p2p

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/stubs"
)

// maxQueued is how many bytes may wait in a channel. Senders that heed Blocked never come near it.
const maxQueued = 16 << 20

// A stub that is closed waits for what is under way as long as some of it arrives. What was lost at the end is sent again only after a
// second (RFC 9260 6.3.1, RTO.Min), or after maxRTO if it was lost again.
const (
	stalled  = maxRTO + time.Second // so long without any progress: nobody is there
	farewell = 10 * time.Second     // in all
)

// detached reads and writes whole messages of an open channel.
type detached interface {
	ReadDataChannel(b []byte) (n int, isString bool, err error)
	WriteDataChannel(b []byte, isString bool) (int, error)
}

// openChannel makes the one channel of the connection. Each end makes it: that is what negotiated means.
func (s *Stub) openChannel() error {
	negotiated, ordered, id := true, true, uint16(channelID)
	channel, err := s.connection.CreateDataChannel(channelLabel, &webrtc.DataChannelInit{Negotiated: &negotiated, Ordered: &ordered, ID: &id})
	if err != nil {
		return err
	}
	// The connection holds its own lock here: no more than a nudge may happen.
	channel.OnBufferedAmountLow(func() {
		select {
		case s.low <- struct{}{}:
		default:
		}
	})
	channel.OnOpen(func() {
		raw, err := channel.Detach()
		s.do(func() error {
			if err != nil {
				return err
			}
			both, ok := raw.(detached)
			if !ok {
				return errors.New("p2p: the channel can not be read message by message")
			}
			return s.opened(channel, both)
		})
	})
	return nil
}

// opened makes the stub live, and starts to read.
func (s *Stub) opened(channel *webrtc.DataChannel, raw detached) error {
	s.mu.Lock()
	if !s.reports {
		s.mu.Unlock()
		return errClosing
	}
	s.flow.channel, s.flow.raw = channel, raw
	s.mu.Unlock()
	// Live comes before the first frame, which may be there already.
	s.emit(stubs.Changed{Status: stubs.Live})
	s.reading.Go(func() { s.read(raw) })
	return nil
}

// read reports frames until the channel is over.
func (s *Stub) read(raw detached) {
	b := make([]byte, maxMessageSize)
	for {
		n, isString, err := raw.ReadDataChannel(b)
		switch {
		case errors.Is(err, io.ErrShortBuffer):
			s.emit(stubs.Complained{Text: "p2p: " + s.id.peer.String() + " sent a message that is too long"})
			continue
		case err != nil:
			s.do(func() error {
				return &ended{"closed", fmt.Errorf("p2p: the channel to %s is over: %w", s.id.peer, err)}
			})
			return
		}
		size := frame.HeadSize(b[:n])
		if isString || size == 0 {
			s.emit(stubs.Complained{Text: "p2p: " + s.id.peer.String() + " sent a message that is no frame"})
			continue
		}
		whole := append(make([]byte, 0, n), b[:n]...)
		s.emit(stubs.Frame{Head: whole[:size:size], Payload: whole[size:]})
	}
}

// Transmit sends a session frame to the peer. There are no handles.
func (s *Stub) Transmit(_ uint64, pieces ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.flow.transmit(pieces, s.sink)
	var e *ended
	if errors.As(err, &e) {
		s.flow.channel = nil
		s.inbox = append(s.inbox, func() error { return s.sendFailed(e) })
		select {
		case s.work <- struct{}{}:
		default:
		}
		return fmt.Errorf("%w: %w", stubs.ErrNotLive, e.err)
	}
	return err
}

// sendFailed reports a stub that was live until a write failed.
func (s *Stub) sendFailed(e *ended) error {
	s.emit(stubs.Changed{Status: stubs.Disconnected, Reason: e.reason, Err: e.err})
	s.mu.Lock()
	s.reports = false
	s.mu.Unlock()
	return e
}

// flow is what waits to be sent in a channel. The stub's lock covers it.
type flow struct {
	channel *webrtc.DataChannel // nil: not live
	raw     detached
	scratch []byte
	waiting int // when last looked at
	marks   stubs.Marks
	blocked bool
}

// transmit writes one message. An *ended means that the channel is of no use any more, whatever its state says.
func (f *flow) transmit(pieces [][]byte, sink func(stubs.Event)) error {
	if f.channel == nil {
		return stubs.ErrNotLive
	}
	f.scratch = f.scratch[:0]
	for _, p := range pieces {
		f.scratch = append(f.scratch, p...)
	}
	size := len(f.scratch)
	if size > stubs.MaxFrame {
		return fmt.Errorf("%w: a frame of %d bytes", stubs.ErrTooBig, size)
	}
	if f.waiting > maxQueued {
		return stubs.ErrFull
	}
	if _, err := f.raw.WriteDataChannel(f.scratch, false); err != nil {
		return &ended{"send-failed", err}
	}
	f.waiting += size
	now := time.Now()
	f.look(now)
	if high := f.marks.High(now); !f.blocked && f.waiting > high {
		f.blocked = true
		f.channel.SetBufferedAmountLowThreshold(uint64(f.marks.Low(now)))
		sink(stubs.Blocked{})
		// It may have fallen before the threshold was set.
		f.fell(sink)
	}
	return nil
}

// flush waits until the peer's transport has all that was sent: closing a connection throws away what is under way.
func (s *Stub) flush() {
	s.mu.Lock()
	channel := s.leaving
	s.mu.Unlock()
	if channel == nil {
		return
	}
	timeout, stall := time.NewTimer(farewell), time.NewTimer(stalled)
	defer timeout.Stop()
	defer stall.Stop()
	least := channel.BufferedAmount()
	for least > 0 {
		// The next part that arrives is told, unless it did before the threshold was set.
		channel.SetBufferedAmountLowThreshold(least - 1)
		if waiting := channel.BufferedAmount(); waiting < least {
			least = waiting
			stall.Reset(stalled)
			continue
		}
		select {
		case <-s.low:
		case <-stall.C:
			return
		case <-timeout.C:
			return
		}
	}
}

// look counts what left since the last time.
func (f *flow) look(now time.Time) {
	waiting := int(f.channel.BufferedAmount())
	if left := f.waiting - waiting; left > 0 {
		f.marks.Moved(now, left)
	}
	f.waiting = waiting
}

// fell reports Writable if what waits is at the low mark.
func (f *flow) fell(sink func(stubs.Event)) {
	if f.channel == nil {
		return
	}
	f.look(time.Now())
	if f.blocked && f.waiting <= int(f.channel.BufferedAmountLowThreshold()) {
		f.blocked = false
		sink(stubs.Writable{})
	}
}
