package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hyroute/hyroute/host"
)

// restored says what becomes of the messages that a former run with the same --store did not see to their end.
func (s *sender) restored(ctx context.Context, r *host.Runtime) error {
	var failed error
	for _, x := range r.Restored() {
		receipt, err := x.Wait(ctx)
		o := s.outcomeOf(x.Draft.To, receipt, err)
		o.Restored = true
		if answer := x.Answer(); answer != nil {
			o.Path, o.Answer = answer.Path, answer.Value()
		}
		if s.json {
			failed = errors.Join(failed, s.line(o))
		} else if err == nil {
			_, err = fmt.Fprintf(s.command.OutOrStdout(), "from the run before, to %s: %s\n", o.To, o.Outcome)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
