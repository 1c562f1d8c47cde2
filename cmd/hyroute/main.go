// Command hyroute serves a Message Node with its page, listens at an address, and sends messages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130 // as shells have it for SIGINT
)

// errInterrupted ends a command that the user stopped before it was done. Nothing is printed for it.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line.
type usageError struct{ error }

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	root := &cobra.Command{
		Use:   "hyroute",
		Short: "Messages to an address, by the best live path",
		Long: "hyroute sends messages to an address: through a Message Node at once, and on a direct connection as soon as\n" +
			"there is one, back and forth without loss, repeat or reordering.",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			text := fmt.Sprintf("there is no command %q", args[0])
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				text += fmt.Sprintf(": did you mean %q?", near[0])
			}
			return usageError{errors.New(text + "\nSee: hyroute --help")}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serveCommand(), listenCommand(), sendCommand(), versionCommand())
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(problems)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\nSee: %s --help", err, c.CommandPath())}
	})
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintln(problems, "hyroute:", err)
		return exitUsage
	}
	fmt.Fprintln(problems, "hyroute:", explain(err))
	return exitFailed
}

// exactly is cobra's check of the number of arguments, in words of this program.
func exactly(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usageError{fmt.Errorf("%s takes %s\nSee: %s --help", c.CommandPath(), what, c.CommandPath())}
		}
		return nil
	}
}
