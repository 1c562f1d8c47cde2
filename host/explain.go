package host

import (
	"context"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/engine"
)

// Explanation says how a message would go now, and why.
type Explanation struct {
	By     string // who would take it on: local (a listener here), session (with a peer), node (as plain JSON), none
	Path   Path   // empty where none is open yet
	Peer   string // runtime URL
	Reason string
	Steps  []uint8 // of the routing document that the decision went through
}

// Explain says how a message from the runtime's own address would go now. Nothing is sent.
func (r *Runtime) Explain(ctx context.Context, to string) (Explanation, error) {
	a, err := address.Parse(to)
	if err != nil {
		return Explanation{}, &Error{Code: BadAddress, To: to, Err: err}
	}
	in := explainInput{r.own.address, a, make(chan Explanation, 1)}
	if !r.inbox.put(in) {
		return Explanation{}, &Error{Code: Closed}
	}
	select {
	case x, ok := <-in.answer:
		if !ok {
			return x, &Error{Code: Closed}
		}
		return x, nil
	case <-ctx.Done():
		return Explanation{}, contextError(ctx)
	}
}

// explainInput is a question of Explain. The answer is closed if there will be none.
type explainInput struct {
	from, to address.Address
	answer   chan Explanation
}

func (in explainInput) apply(l *loop) {
	l.lastJob++
	l.explanations[l.lastJob] = in.answer
	l.tell(&engine.ExplanationAsked{Job: l.lastJob, From: in.from, To: in.to})
}
