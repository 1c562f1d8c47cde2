//go:build linux

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// relay is the least that two pages can talk through: each frame of one member of a room goes to the other.
type relay struct {
	server http.Server

	lock  sync.Mutex
	rooms map[string][]*websocket.Conn
}

func startRelay(address string) (*relay, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &relay{rooms: map[string][]*websocket.Conn{}}
	r.server.Handler = r
	go r.server.Serve(listener)
	return r, nil
}

// Close ends the relay and all its connections.
func (r *relay) Close() error {
	r.lock.Lock()
	for _, members := range r.rooms {
		for _, c := range members {
			c.CloseNow()
		}
	}
	r.lock.Unlock()
	return r.server.Close()
}

func (r *relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	c, err := websocket.Accept(w, request, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(1 << 20)
	room := request.URL.Query().Get("room")
	r.lock.Lock()
	r.rooms[room] = append(r.rooms[room], c)
	r.lock.Unlock()
	for ctx := context.Background(); ; {
		kind, frame, err := c.Read(ctx)
		if err != nil {
			return
		}
		if other := r.other(room, c); other != nil && other.Write(ctx, kind, frame) != nil {
			return
		}
	}
}

// other is who else is in a room.
func (r *relay) other(room string, self *websocket.Conn) *websocket.Conn {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, c := range r.rooms[room] {
		if c != self {
			return c
		}
	}
	return nil
}
