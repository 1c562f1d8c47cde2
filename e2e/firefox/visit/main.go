// Command visit opens a page in a Firefox with an empty profile, evaluates an expression in it, waits for that if it is a
// promise, and prints its value as JSON. What the page's console says goes to standard error.
//
//	go run ./e2e/firefox/visit http://localhost:8080 'document.title'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/hyroute/hyroute/e2e/firefox"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: visit URL EXPRESSION")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	value, err := visit(ctx, os.Args[1], os.Args[2])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "visit:", err)
		os.Exit(1)
	}
	fmt.Println(string(value))
}

func visit(ctx context.Context, url, expression string) (value json.RawMessage, err error) {
	program, err := firefox.Find()
	if err != nil {
		return nil, err
	}
	browser, err := firefox.Start(ctx, nil, exec.CommandContext(ctx, program))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, browser.Close()) }()
	page, err := browser.NewPage(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	if err := page.Open(ctx, url); err != nil {
		return nil, err
	}
	err = page.Eval(ctx, expression, &value)
	return value, err
}
