//go:build linux

package lan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// DropUDP lets all UDP packets that come to any end vanish from now on. Nobody is told.
func (l *LAN) DropUDP() error { return l.each((*End).DropUDP) }

// PassUDP ends whatever happens to the UDP packets of all ends.
func (l *LAN) PassUDP() error { return l.each((*End).PassUDP) }

// CutTCP resets the TCP connections of all ends, and whatever they try anew.
func (l *LAN) CutTCP() error { return l.each((*End).CutTCP) }

// PassTCP ends CutTCP.
func (l *LAN) PassTCP() error { return l.each((*End).PassTCP) }

func (l *LAN) each(do func(*End) error) (err error) {
	for _, e := range l.ends {
		err = errors.Join(err, do(e))
	}
	return err
}

// DropUDP lets all UDP packets that come to this end vanish from now on. Nobody is told.
func (e *End) DropUDP() error { return e.udp() }

// LoseUDP lets so many in a hundred (1 to 99) of the UDP packets that come to this end vanish, at random.
func (e *End) LoseUDP(percent int) error {
	return e.udp("numgen", "random", "mod", "100", "<", strconv.Itoa(percent))
}

// DropLargeUDP lets those vanish that are larger than so many bytes, IP header included.
func (e *End) DropLargeUDP(bytes int) error { return e.udp("meta", "length", ">", strconv.Itoa(bytes)) }

// DropUDPAfter lets those vanish that come after the next so many bytes: a path that dies in the middle of something.
func (e *End) DropUDPAfter(bytes int) error {
	return e.udp("quota", "over", strconv.Itoa(bytes), "bytes")
}

// DropUDPPast lets those vanish that do not come from an address: what does not go by the server there. Multicast DNS is
// no path, and passes.
func (e *End) DropUDPPast(ip string) error {
	return e.udp("udp", "dport", "!=", "5353", "ip", "saddr", "!=", ip)
}

// udp drops the UDP packets that come in and match, and no others.
func (e *End) udp(match ...string) error {
	script := []string{"nft", "flush", "chain", "inet", "lan", "input", ";", "add", "rule", "inet", "lan", "input", "meta", "l4proto", "udp"}
	script = append(script, match...)
	_, err := run(e.argv(append(script, "counter", "name", "dropped", "drop")...))
	return err
}

// PassUDP ends whatever happens to the UDP packets that come to this end.
func (e *End) PassUDP() error {
	_, err := run(e.argv("nft", "flush", "chain", "inet", "lan", "input"))
	return err
}

// CutTCP resets this end's TCP connections as soon as anything is sent on them, and whatever it tries anew.
func (e *End) CutTCP() error {
	for chain, at := range map[string]string{"cut-in": "iifname", "cut-out": "oifname"} {
		// The resets themselves have to pass, and what an end says to itself, such as a driver to its browser.
		if _, err := run(e.argv("nft", "add", "rule", "inet", "lan", chain, at, "eth0", "tcp", "flags", "&", "rst", "==", "0", "counter", "reject", "with", "tcp", "reset")); err != nil {
			return err
		}
	}
	return nil
}

// PassTCP ends CutTCP.
func (e *End) PassTCP() error {
	for _, chain := range []string{"cut-in", "cut-out"} {
		if _, err := run(e.argv("nft", "flush", "chain", "inet", "lan", chain)); err != nil {
			return err
		}
	}
	return nil
}

// Dropped is how many packets have vanished at this end so far.
func (e *End) Dropped() (int, error) {
	out, err := run(e.argv("nft", "-j", "list", "counter", "inet", "lan", "dropped"))
	if err != nil {
		return 0, err
	}
	var listing struct {
		NFTables []struct{ Counter *struct{ Packets int } }
	}
	if err := json.Unmarshal(out, &listing); err != nil {
		return 0, fmt.Errorf("lan: read nft's counter: %w", err)
	}
	for _, item := range listing.NFTables {
		if item.Counter != nil {
			return item.Counter.Packets, nil
		}
	}
	return 0, fmt.Errorf("lan: nft lists no counter: %s", out)
}
