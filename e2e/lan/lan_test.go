//go:build linux

package lan_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hyroute/hyroute/e2e/lan"
)

// The test binary is three programs: the one that go test starts, the same in the sandbox, and an echo server at an end.
const echoMark = "HYROUTE_LAN_ECHO"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(echoMark) != "":
		fmt.Fprintln(os.Stderr, echo(os.Getenv(echoMark)))
		os.Exit(1)
	case lan.Inside():
		if err := lan.Settle(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	for _, tool := range []string{"ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Println("left out: ", err)
			os.Exit(0)
		}
	}
	code, err := lan.RunInside()
	if errors.Is(err, os.ErrPermission) {
		fmt.Println("left out: ", err)
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// echo answers datagrams and streams at an address.
func echo(address string) error {
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go func() {
		for buffer := make([]byte, 1500); ; {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			packets.WriteTo(buffer[:n], from)
		}
	}()
	for {
		c, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer c.Close()
			buffer := make([]byte, 1500)
			for n, err := c.Read(buffer); err == nil; n, err = c.Read(buffer) {
				c.Write(buffer[:n])
			}
		}()
	}
}

func TestFaults(t *testing.T) {
	l, err := lan.New("a", "b")
	if err != nil {
		t.Fatal(err)
	}
	end := l.Ends()[0]
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(end.IP, "7")
	server := end.Command(t.Context(), self)
	server.Env = append(server.Env, echoMark+"="+address)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("the echo server said %q: %v", line, err)
	}
	answered := func(network string, wait time.Duration) bool {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatalf("%s: the sender was told: %v", network, err)
		}
		c.SetReadDeadline(time.Now().Add(wait))
		_, err = c.Read(make([]byte, 1))
		return err == nil
	}
	if !answered("udp", 5*time.Second) {
		t.Error("UDP does not pass")
	}
	if err := l.DropUDP(); err != nil {
		t.Fatal(err)
	}
	if answered("udp", 200*time.Millisecond) {
		t.Error("UDP passes while it is dropped")
	}
	if !answered("tcp", 5*time.Second) {
		t.Error("TCP does not pass while UDP is dropped")
	}
	if n, err := end.Dropped(); err != nil || n != 1 {
		t.Errorf("%d packets were dropped, not 1 (%v)", n, err)
	}
	if err := l.PassUDP(); err != nil {
		t.Fatal(err)
	}
	if !answered("udp", 5*time.Second) {
		t.Error("UDP does not pass again")
	}

	// A line of 100 ms, for UDP alone.
	took := func(network string) time.Duration {
		t.Helper()
		begun := time.Now()
		if !answered(network, 5*time.Second) {
			t.Errorf("%s does not pass the long line", network)
		}
		return time.Since(begun)
	}
	const each = 100 * time.Millisecond
	stop, err := end.Delay(each)
	if err != nil {
		t.Fatal(err)
	}
	if tcp, udp := took("tcp"), took("udp"); tcp >= 2*each || udp < 2*each {
		t.Errorf("on a line of %v TCP took %v and UDP %v", each, tcp, udp)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if udp := took("udp"); udp >= 2*each {
		t.Errorf("UDP took %v after the line was short again", udp)
	}

	sent := func(bytes int) bool {
		t.Helper()
		c, err := net.Dial("udp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write(make([]byte, bytes)); err != nil {
			t.Fatal(err)
		}
		c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		_, err = c.Read(make([]byte, 1500))
		return err == nil
	}
	if err := end.DropLargeUDP(1000); err != nil {
		t.Fatal(err)
	}
	if small, large := sent(900), sent(1100); !small || large {
		t.Errorf("of packets above 1000 bytes dropped: one of 900 passes %v, one of 1100 %v", small, large)
	}
	if err := end.LoseUDP(50); err != nil {
		t.Fatal(err)
	}
	passed := 0
	for range 20 {
		if sent(1) {
			passed++
		}
	}
	if passed == 0 || passed == 20 {
		t.Errorf("of 20 packets %d pass a line that loses half of them", passed)
	}
	if err := end.DropUDPAfter(10_000); err != nil {
		t.Fatal(err)
	}
	first, later := sent(100), 0
	for range 8 {
		if sent(1400) {
			later++
		}
	}
	if !first || later == 8 {
		t.Errorf("of a quota of 10 000 bytes: the first packet passes %v, and %d of 8 that are above it", first, later)
	}
	if err := end.PassUDP(); err != nil {
		t.Fatal(err)
	}

	// A cut tells both sides, and ends what was there.
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := l.CutTCP(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection that was cut says %v", err)
	}
	if err := l.PassTCP(); err != nil {
		t.Fatal(err)
	}
	if !answered("tcp", 5*time.Second) {
		t.Error("TCP does not pass again")
	}
}
