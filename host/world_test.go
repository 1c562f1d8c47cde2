package host

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hyroute/hyroute/node"
)

const testDomain = "a.example"

// limit is how long a test waits for what must happen.
const limit = 20 * time.Second

func testContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// testNode is a real Message Node on a real port.
type testNode struct {
	node   *node.Node
	server *httptest.Server
	url    string
}

func startNode(t testing.TB) *testNode {
	t.Helper()
	n, err := node.New(node.Config{Domain: testDomain})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(n)
	t.Cleanup(func() {
		n.Close()
		server.Close()
	})
	return &testNode{n, server, "ws" + strings.TrimPrefix(server.URL, "http") + "/ws"}
}

// connect makes a runtime at the node, closed when the test ends.
func (n *testNode) connect(t *testing.T, o Options) *Runtime {
	t.Helper()
	o.Domain, o.Loopback = testDomain, true
	r, err := Connect(testContext(t), n.url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// machines runs a test on both forms of the machine.
func machines(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("linked", func(t *testing.T) { test(t, Options{}) })
	t.Run("module", func(t *testing.T) { test(t, Options{Module: module(t), ModuleCache: cache}) })
}

// traced writes what the machine of a runtime did to the log of a test that failed.
type traced struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *traced) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *traced) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
