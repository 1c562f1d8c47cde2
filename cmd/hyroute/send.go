package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hyroute/hyroute/host"
)

// maxInput is the longest message.
const maxInput = 16 << 20

type sender struct {
	connection
	json, request bool
	bytes, lane   string
	count         int
	rate          float64
	timeout       time.Duration
	command       *cobra.Command
}

func sendCommand() *cobra.Command {
	s := &sender{}
	c := &cobra.Command{
		Use:   "send ADDRESS [TEXT]",
		Short: "Send a message, and say how it went",
		Long: "Send a message to an address. The exit code is 0 when its listener has it.\n" +
			"TEXT - reads the text from the standard input.",
		Example: "  hyroute send hyperty://localhost/alice \"good morning\"\n" +
			"  hyroute send hyperty://localhost/alice --bytes photo.jpg\n" +
			"  hyroute send hyperty://localhost/alice --count 1000 --rate 500 --json",
		Args: exactly(1, 2, "an address and a text"),
		RunE: func(c *cobra.Command, args []string) error {
			s.command = c
			return s.run(c.Context(), args)
		},
	}
	s.flags(c, "from")
	f := c.Flags()
	f.BoolVar(&s.json, "json", false, "print JSON lines")
	f.BoolVar(&s.request, "request", false, "wait for an answer, and print it")
	f.StringVar(&s.bytes, "bytes", "", "send the bytes of this `file`; - is the standard input")
	f.StringVar(&s.lane, "lane", "", "send in the lane of this `name`: order is kept within it, and it holds up no other")
	f.IntVar(&s.count, "count", 0, "send so many numbers instead of a text")
	f.Float64Var(&s.rate, "rate", 100, "with --count: so many a second")
	f.DurationVar(&s.timeout, "timeout", 30*time.Second, "how long a message may take")
	return c
}

// value is what is to be sent.
func (s *sender) value(args []string) (any, error) {
	ways := 0
	for _, used := range []bool{len(args) > 1, s.bytes != "", s.count > 0} {
		if used {
			ways++
		}
	}
	if ways != 1 {
		return nil, usageError{errors.New("give one of a text, --bytes and --count: what is to be sent?")}
	}
	switch {
	case s.count > 0:
		return nil, nil
	case s.bytes != "":
		return s.read(s.bytes)
	case args[1] == "-":
		b, err := s.read("-")
		if err == nil && !utf8.Valid(b) {
			err = errors.New("the standard input is not UTF-8: send it with --bytes -")
		}
		return string(b), err
	}
	return args[1], nil
}

func (s *sender) read(name string) ([]byte, error) {
	in := s.command.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("%s: longer than a message may be (16 MiB)", name)
	}
	return b, err
}

func (s *sender) run(ctx context.Context, args []string) error {
	value, err := s.value(args)
	if err != nil {
		return err
	}
	if s.timeout <= 0 || s.rate <= 0 || s.count < 0 {
		return usageError{errors.New("--timeout, --rate and --count are above 0")}
	}
	r, closeTrace, err := s.connect(ctx, answerClock)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	running.Go(func() {
		watch := nodeWatch{url: s.node, say: func(format string, arguments ...any) {
			fmt.Fprintf(s.command.ErrOrStderr(), "hyroute: "+format+"\n", arguments...)
		}}
		for e := range r.Events(context.Background()) { // until r is closed, so that nothing goes untold
			if n, ok := e.(host.NodeChanged); ok {
				watch.event(n)
			}
		}
	})
	switch {
	case s.count > 0:
		err = s.stream(ctx, r, args[0])
	case s.request:
		err = s.ask(ctx, r, args[0], value)
	default:
		err = s.send(ctx, r, args[0], value)
	}
	err = errors.Join(err, s.restored(ctx, r), r.Close(), closeTrace())
	running.Wait()
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// answerClock tells others the time, so that they know how long messages are under way.
func answerClock(m *host.Message) {
	if t, ok := read(m); ok && t.Clock != nil && m.WantsReply() {
		m.Reply(map[string]float64{"clock": now()})
	}
}

// outcome is a line of --json.
type outcome struct {
	To      string    `json:"to"`
	Outcome string    `json:"outcome"` // delivered, taken or failed
	Path    host.Path `json:"path,omitempty"`
	Millis  float64   `json:"ms,omitempty"`
	Code    host.Code `json:"code,omitempty"`
	Maybe   bool      `json:"maybe,omitempty"`
	Error   string    `json:"error,omitempty"`
	Answer  any       `json:"answer,omitempty"`
	// Restored: a former run with the same --store sent it.
	Restored bool `json:"restored,omitempty"`
}

func (s *sender) send(ctx context.Context, r *host.Runtime, to string, value any) error {
	receipt, err := r.Post(host.Draft{To: to, Value: value, Lane: s.lane, Deadline: s.timeout}).Wait(ctx)
	o := s.outcomeOf(to, receipt, err)
	if s.json {
		return errors.Join(s.line(o), err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.command.OutOrStdout(), "%s by the %s path in %s\n", o.Outcome, o.Path, inMillis(o.Millis))
	return err
}

func (s *sender) outcomeOf(to string, receipt host.Receipt, err error) outcome {
	o := outcome{To: to, Outcome: "taken", Path: receipt.Path, Millis: float64(receipt.Took.Microseconds()) / 1000}
	if receipt.Delivered {
		o.Outcome = "delivered"
	}
	if err != nil {
		o.Outcome, o.Error = "failed", err.Error()
		var e *host.Error
		if errors.As(err, &e) {
			o.Code, o.Maybe = e.Code, e.Maybe
		}
	}
	return o
}

func (s *sender) ask(ctx context.Context, r *host.Runtime, to string, value any) error {
	start := time.Now()
	answer, err := r.Ask(ctx, host.Draft{To: to, Value: value, Lane: s.lane, Deadline: s.timeout, AnswerWithin: s.timeout})
	if s.json {
		o := s.outcomeOf(to, host.Receipt{Delivered: true, Took: time.Since(start)}, err)
		if answer != nil {
			o.Path, o.Answer = answer.Path, answer.Value()
		}
		return errors.Join(s.line(o), err)
	}
	if err != nil {
		return err
	}
	if answer.IsBytes() {
		_, err = s.command.OutOrStdout().Write(answer.Bytes())
	} else {
		_, err = fmt.Fprintln(s.command.OutOrStdout(), printable(answer.Text()))
	}
	return err
}

func (s *sender) line(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.command.OutOrStdout(), "%s\n", text)
	return err
}
