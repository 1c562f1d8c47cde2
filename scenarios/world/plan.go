package world

import (
	"fmt"
	"strconv"
	"strings"
)

// Plan is a world that can be played: who is there, and what happens.
type Plan struct {
	Seed    uint64
	Until   uint64 // when the last fault is over, ms
	Bodies  []BodyPlan
	Actions []Action // by time
}

// BodyPlan is one runtime.
type BodyPlan struct {
	Domain    string
	Direct    bool     // it can make peer connections
	Domains   []string // further domains that it may use
	Endpoints []string // addresses that it hosts from the start
}

// RuntimeURL is the runtime URL of the body with this number.
func (p *Plan) RuntimeURL(i int) string {
	return "runtime://" + p.Bodies[i].Domain + "/" + string(rune('a'+i))
}

// String is the plan as a file of scenarios/regress.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "world seed=%d until=%d\n", p.Seed, p.Until)
	for _, d := range p.Bodies {
		fmt.Fprintf(&b, "body domain=%s", d.Domain)
		if d.Direct {
			b.WriteString(" direct=1")
		}
		if len(d.Domains) > 0 {
			fmt.Fprintf(&b, " domains=%s", strings.Join(d.Domains, ","))
		}
		if len(d.Endpoints) > 0 {
			fmt.Fprintf(&b, " endpoints=%s", strings.Join(d.Endpoints, ","))
		}
		b.WriteString("\n")
	}
	for _, a := range p.Actions {
		b.WriteString(a.String())
		b.WriteString("\n")
	}
	return b.String()
}

// ParsePlan reads what String writes; empty lines and lines that begin with # count for nothing. The error says which line
// is wrong.
func ParsePlan(text string) (*Plan, error) {
	p := &Plan{}
	for i, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || l[0] == '#' {
			continue
		}
		if err := p.parseLine(l); err != nil {
			return nil, fmt.Errorf("world: line %d: %w", i+1, err)
		}
	}
	if len(p.Bodies) == 0 {
		return nil, fmt.Errorf("world: no body")
	}
	for i, a := range p.Actions {
		if a.Who >= len(p.Bodies) || a.Whom >= len(p.Bodies) || a.Node >= len(p.domains()) {
			return nil, fmt.Errorf("world: action %d: no such body or node", i+1)
		}
	}
	return p, nil
}

func (p *Plan) parseLine(l string) error {
	verb, rest, _ := strings.Cut(l, " ")
	switch verb {
	case "world":
		return words(rest, func(key, value string) (err error) {
			switch key {
			case "seed":
				p.Seed, err = strconv.ParseUint(value, 10, 64)
			case "until":
				p.Until, err = strconv.ParseUint(value, 10, 40)
			default:
				return fmt.Errorf("unknown key %q", key)
			}
			return err
		})
	case "body":
		var d BodyPlan
		err := words(rest, func(key, value string) error {
			switch key {
			case "domain":
				d.Domain = value
			case "direct":
				d.Direct = value == "1"
			case "domains":
				d.Domains = strings.Split(value, ",")
			case "endpoints":
				d.Endpoints = strings.Split(value, ",")
			default:
				return fmt.Errorf("unknown key %q", key)
			}
			return nil
		})
		p.Bodies = append(p.Bodies, d)
		return err
	}
	a, err := parseAction(l)
	p.Actions = append(p.Actions, a)
	return err
}

func words(text string, each func(key, value string) error) error {
	for _, w := range strings.Fields(text) {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			return fmt.Errorf("%q is not key=value", w)
		}
		if err := each(key, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// domains are the domains of the plan, in order of first mention; each has a node.
func (p *Plan) domains() []string {
	var ds []string
	seen := map[string]bool{}
	for _, b := range p.Bodies {
		if !seen[b.Domain] {
			seen[b.Domain] = true
			ds = append(ds, b.Domain)
		}
	}
	return ds
}
