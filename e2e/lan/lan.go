//go:build linux

package lan

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// NodeIP is the address of the bridge in the sandbox's own namespace, where servers listen.
const NodeIP = "10.99.0.1"

// End is a network namespace with one interface, whose default route leads to the sandbox's own namespace, as a machine in
// a home network has one.
type End struct {
	Name string
	IP   string
}

// LAN is a bridge with ends on it.
type LAN struct{ ends []*End }

// New makes the bridge and one end for each name. Call it once, in the sandbox.
func New(names ...string) (*LAN, error) {
	commands := []string{
		"ip link set lo up",
		// Without snooping every end gets multicast at once: browsers hide their addresses behind mDNS names.
		"ip link add lan type bridge mcast_snooping 0",
		"ip addr add " + NodeIP + "/24 dev lan",
		"ip link set lan up",
	}
	l := &LAN{}
	for i, name := range names {
		end := &End{Name: name, IP: fmt.Sprintf("10.99.0.%d", 11+i)}
		l.ends = append(l.ends, end)
		commands = append(commands,
			"ip netns add "+name,
			"ip link add to-"+name+" type veth peer name eth0 netns "+name,
			"ip link set to-"+name+" master lan up",
			"ip -n "+name+" link set lo up",
			"ip -n "+name+" addr add "+end.IP+"/24 dev eth0",
			"ip -n "+name+" link set eth0 up",
			"ip -n "+name+" route add default via "+NodeIP,
			"ip netns exec "+name+" nft add table inet lan",
			// Dropped on the way in: on the way out the sender would be told.
			"ip netns exec "+name+" nft add chain inet lan input { type filter hook input priority 0 ; }",
			"ip netns exec "+name+" nft add counter inet lan dropped",
			// Cut both ways: who sends is told at once, and so is who would be sent to.
			"ip netns exec "+name+" nft add chain inet lan cut-in { type filter hook input priority 1 ; }",
			"ip netns exec "+name+" nft add chain inet lan cut-out { type filter hook output priority 1 ; }",
		)
	}
	for _, c := range commands {
		if _, err := run(strings.Fields(c)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Ends are the ends in the order of their names given to New.
func (l *LAN) Ends() []*End { return l.ends }

// Command is a command that runs at this end. It is killed when ctx is done.
func (e *End) Command(ctx context.Context, program string, args ...string) *exec.Cmd {
	argv := e.argv(append([]string{program}, args...)...)
	command := exec.CommandContext(ctx, argv[0], argv[1:]...)
	command.Env = os.Environ()
	return command
}

func (e *End) argv(args ...string) []string {
	return append([]string{"ip", "netns", "exec", e.Name}, args...)
}

func run(argv []string) ([]byte, error) {
	command := exec.Command(argv[0], argv[1:]...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("lan: %s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), nil
}
