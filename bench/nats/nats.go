// Package nats is a NATS server with a WebSocket listener, embedded.
package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Serve listens at a port of localhost until ctx ends.
func Serve(ctx context.Context, port int) error {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: port, NoTLS: true},
	})
	if err != nil {
		return err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("nats: not ready within 10 s")
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}
