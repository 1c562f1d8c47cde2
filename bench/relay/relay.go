// Package relay is the least that two ends can talk through: a WebSocket server where each frame of one member of a room
// goes to the others, as it is.
package relay

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"
)

// rooms are who is where. A sender waits while a receiver is slow: back-pressure is TCP's own.
type rooms struct {
	lock    sync.Mutex
	members map[string][]*websocket.Conn
}

// Serve relays at an address until ctx ends.
func Serve(ctx context.Context, address string) error {
	server := http.Server{Addr: address, Handler: &rooms{members: map[string][]*websocket.Conn{}}}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (r *rooms) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	c, err := websocket.Accept(w, request, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	room := request.URL.Query().Get("room")
	r.enter(room, c)
	defer r.leave(room, c)
	for ctx := context.Background(); ; {
		kind, frame, err := c.Read(ctx)
		if err != nil {
			return
		}
		for _, other := range r.in(room) {
			if other != c {
				other.Write(ctx, kind, frame) // one that is gone is told by its own Read
			}
		}
	}
}

func (r *rooms) enter(room string, c *websocket.Conn) {
	r.lock.Lock()
	defer r.lock.Unlock()
	// A list is never changed, so that it can be read without the lock.
	r.members[room] = append(slices.Clone(r.members[room]), c)
}

func (r *rooms) leave(room string, c *websocket.Conn) {
	r.lock.Lock()
	defer r.lock.Unlock()
	left := slices.DeleteFunc(slices.Clone(r.members[room]), func(other *websocket.Conn) bool { return other == c })
	r.members[room] = left
	if len(left) == 0 {
		delete(r.members, room)
	}
}

func (r *rooms) in(room string) []*websocket.Conn {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.members[room]
}
