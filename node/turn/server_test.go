package turn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/stun/v4"
	"github.com/pion/turn/v5"
)

const patience = 10 * time.Second

var loopback = netip.MustParseAddr("127.0.0.1")

func start(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	c := Config{Realm: "a.example", Listen: "127.0.0.1:0", IP: loopback}
	if change != nil {
		change(&c)
	}
	s, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial makes a client of the server with these credentials.
func dial(t *testing.T, s *Server, name, password string) *turn.Client {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, _, _ := strings.Cut(strings.TrimPrefix(s.URL(), "turn:"), "?")
	client, err := turn.NewClient(&turn.ClientConfig{
		TURNServerAddr: at, Username: name, Password: password, Conn: socket,
		LoggerFactory: &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled},
	})
	if err == nil {
		err = client.Listen()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		socket.Close()
	})
	return client
}

// allocate makes an allocation for a user, who asks the server for credentials.
func allocate(t *testing.T, s *Server, user string) (net.PacketConn, error) {
	t.Helper()
	server, lifetime := s.Issue(user)
	if lifetime != 24*time.Hour {
		t.Errorf("credentials are good for %v", lifetime)
	}
	return dial(t, s, server.Username, server.Credential).Allocate()
}

func mustAllocate(t *testing.T, s *Server, user string) net.PacketConn {
	t.Helper()
	relayed, err := allocate(t, s, user)
	if err != nil {
		t.Fatal(err)
	}
	return relayed
}

func TestTwoAllocationsMeet(t *testing.T) {
	s := start(t, func(c *Config) { c.Ports = PortRange{50000, 50019} })
	a, b := mustAllocate(t, s, "a"), mustAllocate(t, s, "b")
	for _, at := range []net.Addr{a.LocalAddr(), b.LocalAddr()} {
		if u := at.(*net.UDPAddr).AddrPort(); u.Addr() != loopback || u.Port() < 50000 || u.Port() > 50019 {
			t.Errorf("relayed by %v", at)
		}
	}
	b.SetReadDeadline(time.Now().Add(patience))
	// Either must permit the other one's address before anything comes through.
	if _, err := b.WriteTo([]byte("first"), a.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.WriteTo([]byte("hello"), b.LocalAddr()); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	n, from, err := b.ReadFrom(got)
	if err != nil || string(got[:n]) != "hello" || from.String() != a.LocalAddr().String() {
		t.Errorf("%q from %v, %v", got[:n], from, err)
	}
}

func TestCredentials(t *testing.T) {
	s := start(t, nil)
	good, password := s.secret.issue("a", time.Minute)
	late, latePassword := s.secret.issue("a", -time.Second)
	other, otherPassword := newSecret("a.example").issue("a", time.Minute)
	for _, test := range []struct {
		why, name, password string
		ok                  bool
	}{
		{"good", good, password, true},
		{"run out", late, latePassword, false},
		{"run out, and the time changed", good, latePassword, false},
		{"of another server", other, otherPassword, false},
		{"without a time", "a", s.secret.password("a"), false},
		{"with a time that is none", "x:a", s.secret.password("x:a"), false},
	} {
		_, err := dial(t, s, test.name, test.password).Allocate()
		if (err == nil) != test.ok {
			t.Errorf("credentials %s: %v", test.why, err)
		}
	}
}

// A connection outlives the credentials that it was made with: it can not exchange them.
func TestCredentialsThatRunOutKeepWhatTheyMade(t *testing.T) {
	s := start(t, nil)
	server, _ := s.Issue("a")
	client := dial(t, s, server.Username, server.Credential)
	if _, err := client.Allocate(); err != nil {
		t.Fatal(err)
	}
	// The same key, later: as if a day had gone by.
	late, password := s.secret.issue("a", -time.Second)
	if user, _, ok := s.secret.authenticate(&turn.RequestAttributes{Username: late, Realm: "a.example", Method: stun.MethodRefresh}); !ok || user != "a" {
		t.Errorf("a refresh with credentials %s, %s is refused", late, password)
	}
	peer := mustAllocate(t, s, "b")
	if err := client.CreatePermission(peer.LocalAddr()); err != nil {
		t.Error(err)
	}
}

func TestQuota(t *testing.T) {
	s := start(t, func(c *Config) { c.Limits = Limits{PerUser: 2, PerAddress: 3} })
	first := mustAllocate(t, s, "a")
	mustAllocate(t, s, "a")
	if _, err := allocate(t, s, "a"); err == nil || !strings.Contains(err.Error(), "486") {
		t.Errorf("a third allocation of one user: %v", err)
	}
	mustAllocate(t, s, "b")
	if _, err := allocate(t, s, "c"); err == nil || !strings.Contains(err.Error(), "486") {
		t.Errorf("a fourth allocation of one address: %v", err)
	}
	first.Close()
	for begun := time.Now(); ; {
		if _, err := allocate(t, s, "a"); err == nil {
			break
		} else if time.Since(begun) > patience {
			t.Fatalf("no allocation after one was given back: %v", err)
		}
	}
}

func TestNoWayToPrivateAddresses(t *testing.T) {
	for _, test := range []struct {
		private bool
		peer    string
		ok      bool
	}{
		{false, "10.0.0.1:9", false},
		{false, "169.254.169.254:80", false},
		{false, "8.8.8.8:9", true},
		{true, "10.0.0.1:9", true},
	} {
		s := start(t, func(c *Config) { c.Private = test.private })
		server, _ := s.Issue("a")
		client := dial(t, s, server.Username, server.Credential)
		if _, err := client.Allocate(); err != nil {
			t.Fatal(err)
		}
		err := client.CreatePermission(net.UDPAddrFromAddrPort(netip.MustParseAddrPort(test.peer)))
		if (err == nil) != test.ok {
			t.Errorf("%s, private %t: %v", test.peer, test.private, err)
		}
	}
}

// What else listens at the server's own address is not reached through it.
func TestNoWayToOtherPortsOfTheServer(t *testing.T) {
	victim, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close()
	port := victim.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	for _, private := range []bool{false, true} {
		s := start(t, func(c *Config) { c.Private, c.Ports = private, PortRange{port - 20, port - 1} })
		relayed := mustAllocate(t, s, "a")
		if _, err := relayed.WriteTo([]byte("through the server"), victim.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		// Packets of one allocation stay in order, so what the peer behind it has got is later than what went nowhere.
		peer := mustAllocate(t, s, "b")
		if _, err := peer.WriteTo([]byte("permit"), relayed.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		if _, err := relayed.WriteTo([]byte("later"), peer.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		peer.SetReadDeadline(time.Now().Add(patience))
		if _, _, err := peer.ReadFrom(got); err != nil {
			t.Fatal(err)
		}
		sender, err := net.Dial("udp4", victim.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer sender.Close()
		sender.Write([]byte("directly"))
		victim.SetReadDeadline(time.Now().Add(patience))
		n, _, err := victim.ReadFrom(got)
		if err != nil || bytes.Equal(got[:n], []byte("through the server")) != private {
			t.Errorf("private %t: the first packet was %q (%v)", private, got[:n], err)
		}
		if private {
			victim.ReadFrom(got)
		}
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	s := start(t, nil)
	at, _, _ := strings.Cut(strings.TrimPrefix(s.URL(), "turn:"), "?")
	for _, test := range []struct {
		c    Config
		want string
		is   error
	}{
		{Config{Realm: "a.example", Listen: at}, "listen at " + at, syscall.EADDRINUSE},
		{Config{Realm: "a.example", Ports: PortRange{10, 9}}, "10-9 is no range of ports", nil},
		{Config{Realm: "a.example", IP: netip.MustParseAddr("0.0.0.0")}, "0.0.0.0", nil},
		{Config{}, "the realm is empty", nil},
	} {
		s, err := Start(test.c)
		if err == nil {
			s.Close()
			t.Errorf("%+v: started", test.c)
		} else if !strings.Contains(err.Error(), test.want) || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%+v: %v", test.c, err)
		}
	}
}
