package delay_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/e2e/delay"
)

// echo answers each connection with what it gets, until the client has said all.
func echo(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				io.Copy(c, c)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestEveryByteComesLateAndWhole(t *testing.T) {
	const each = 30 * time.Millisecond
	var lock sync.Mutex
	seen := map[delay.Direction]int{}
	proxy, err := delay.Listen("127.0.0.1:0", echo(t), each, func(way delay.Direction, _ time.Time, b []byte) {
		lock.Lock()
		defer lock.Unlock()
		seen[way] += len(b)
	})
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat([]byte("hyroute"), 40_000)
	begun := time.Now()
	go func() {
		client.Write(sent)
		client.(*net.TCPConn).CloseWrite()
	}()
	first := make([]byte, 1)
	if _, err := io.ReadFull(client, first); err != nil {
		t.Fatal(err)
	}
	if late := time.Since(begun); late < 2*each {
		t.Errorf("the first byte was back after %v, before two times %v", late, each)
	}
	rest, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	if got := append(first, rest...); !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back, and not those that were sent (%d)", len(got), len(sent))
	}
	if err := proxy.Close(); err != nil {
		t.Error(err)
	}
	if seen[delay.ToServer] != len(sent) || seen[delay.ToClient] != len(sent) {
		t.Errorf("the watcher saw %v, not %d each way", seen, len(sent))
	}
}

func TestCloseEndsConnections(t *testing.T) {
	proxy, err := delay.Listen("127.0.0.1:0", echo(t), time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := proxy.Close(); err != nil {
		t.Error(err)
	}
	client.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("a byte came out of a closed line")
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Error("the connection outlived the proxy")
	}
}
