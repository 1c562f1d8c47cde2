package host

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestFullDiskClosesTheRuntime: a Step that can not be stored has no effect, and says why. When there is room again, the next life goes on.
func TestFullDiskClosesTheRuntime(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("needs to mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	n := startNode(t)
	ctx := testContext(t)
	alice, bob := n.connect(t, Options{Store: dir}), n.connect(t, Options{})
	var got []string
	seen := make(chan string, 1000)
	bob.Listen(func(m *Message) { seen <- nameOf(m.Text()) })
	var last error
	stored := 0
	for last == nil {
		sent := alice.Post(Draft{To: bob.Address(), Value: fmt.Sprintf("%d %s", stored+1, strings.Repeat("x", 9000))})
		if _, last = sent.Wait(ctx); last == nil {
			stored++
		}
	}
	if e, ok := last.(*Error); !ok || e.Code != NotStored && e.Code != Closed || !strings.Contains(last.Error(), "no space left") {
		t.Errorf("the last message failed with %v", last)
	}
	<-alice.Done()
	var problem string
	for e := range alice.Events(ctx) {
		if p, ok := e.(Problem); ok {
			problem = p.Text
		}
	}
	if !strings.Contains(problem, "the store can not be written, so this runtime closes") || !strings.Contains(problem, "no space left") {
		t.Errorf("the problem is told as %q", problem)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=1m"); err != nil {
		t.Fatal(err)
	}
	again := n.connect(t, Options{Store: dir})
	for _, x := range again.Restored() {
		if _, err := x.Wait(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := again.Send(ctx, bob.Address(), "end"); err != nil {
		t.Fatal(err)
	}
	for name := ""; name != "end"; {
		name = <-seen
		got = append(got, name)
	}
	if len(got) < stored+1 || len(got) > stored+2 || stored < 5 {
		t.Errorf("%d were delivered, and %d arrived", stored, len(got)-1)
	}
	for i, name := range got[:len(got)-1] {
		if name != fmt.Sprint(i+1) {
			t.Errorf("%q arrived in place %d", name, i+1)
		}
	}
}
