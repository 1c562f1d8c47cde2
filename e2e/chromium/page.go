package chromium

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"sync"

	"github.com/hyroute/hyroute/e2e/driver"
)

// Page is a tab.
type Page struct {
	browser *Browser
	profile string
	target  string
	session string
	log     io.Writer

	told driver.Listeners

	lock  sync.Mutex
	serve driver.Server
}

func (p *Page) call(ctx context.Context, method string, params, result any) error {
	return p.browser.connection.Call(ctx, p.session, method, params, result)
}

// Serve answers requests for paths like the patterns (with * for anything), of whatever origin, in place of a server;
// where serve says false, the server is asked. It may take its time. Other requests are not looked at.
func (p *Page) Serve(ctx context.Context, serve driver.Server, patterns ...string) error {
	p.lock.Lock()
	p.serve = serve
	p.lock.Unlock()
	var urls []any
	for _, pattern := range patterns {
		urls = append(urls, map[string]any{"urlPattern": "*://*" + pattern})
	}
	return p.call(ctx, "Fetch.enable", map[string]any{"patterns": urls}, nil)
}

// Listen has fn called with each string that the page gives to its function window[name]. It must not wait for the page.
func (p *Page) Listen(ctx context.Context, name string, fn func(payload string)) error {
	p.told.Listen(name, fn)
	return p.call(ctx, "Runtime.addBinding", map[string]any{"name": name}, nil)
}

// Open loads a document, and returns when its scripts have run.
func (p *Page) Open(ctx context.Context, url string) error {
	return p.load(ctx, url, "Page.navigate", map[string]any{"url": url})
}

// Reload loads the document again, as a user does.
func (p *Page) Reload(ctx context.Context) error { return p.load(ctx, "reload", "Page.reload", nil) }

func (p *Page) load(ctx context.Context, what, method string, params any) error {
	loaded := make(chan struct{})
	var once sync.Once
	p.told.Listen("Page.loadEventFired", func(string) { once.Do(func() { close(loaded) }) })
	var result struct {
		ErrorText string `json:"errorText"`
	}
	if err := p.call(ctx, method, params, &result); err != nil {
		return err
	}
	if result.ErrorText != "" {
		return fmt.Errorf("chromium: %s: %s", what, result.ErrorText)
	}
	select {
	case <-loaded:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("chromium: %s: %w", what, ctx.Err())
	}
}

// Eval evaluates an expression, waits for it if it is a promise, and reads its value into result unless that is nil.
func (p *Page) Eval(ctx context.Context, expression string, result any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	if err := p.call(ctx, "Runtime.evaluate", params, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return errors.New("chromium: the page threw: " + e.Text + " " + e.Exception.Description)
	}
	if result == nil {
		return nil
	}
	if answer.Result.Value == nil {
		return errors.New("chromium: the expression has no value: " + expression)
	}
	return json.Unmarshal(answer.Result.Value, result)
}

// Call calls a function of the page with arguments, as Eval.
func (p *Page) Call(ctx context.Context, function string, result any, arguments ...any) error {
	return p.Eval(ctx, driver.CallOf(function, arguments...), result)
}

// Hide puts another tab of the same window in front, which is what makes a tab hidden and has its timers throttled.
func (p *Page) Hide(ctx context.Context) error {
	_, err := p.browser.newTab(ctx, p.profile, false)
	return err
}

// Show puts this tab in front.
func (p *Page) Show(ctx context.Context) error {
	return p.browser.connection.Call(ctx, "", "Target.activateTarget", map[string]any{"targetId": p.target}, nil)
}

// Crash ends the tab's process as a fault would, even while a script runs: none hears of it. Open brings the tab back, with what its profile kept.
func (p *Page) Crash(ctx context.Context) error {
	crashed := make(chan struct{})
	var once sync.Once
	p.told.Listen("Inspector.targetCrashed", func(string) { once.Do(func() { close(crashed) }) })
	// Who would answer is dead by then: the event tells.
	given, stop := context.WithCancel(ctx)
	defer stop()
	go p.call(given, "Page.crash", nil, nil)
	select {
	case <-crashed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("chromium: crash: %w", ctx.Err())
	}
}

// Close closes the tab and forgets its profile, unless that is the browser's own.
func (p *Page) Close(ctx context.Context) error {
	p.browser.connection.Listen(p.session, nil)
	if p.profile == "" {
		return p.browser.connection.Call(ctx, "", "Target.closeTarget", map[string]any{"targetId": p.target}, nil)
	}
	return p.browser.connection.Call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": p.profile}, nil)
}

func (p *Page) event(method string, params json.RawMessage) {
	switch method {
	case "Fetch.requestPaused":
		go p.answer(params)
	case "Runtime.bindingCalled":
		var called struct{ Name, Payload string }
		if json.Unmarshal(params, &called) == nil {
			p.told.Tell(called.Name, called.Payload)
		}
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		fmt.Fprintln(p.log, consoleLine(method, params))
	default:
		p.told.Tell(method, string(params))
	}
}

// answer settles one request that was stopped on its way. Errors are the browser's end or the page's: nobody waits then.
func (p *Page) answer(params json.RawMessage) {
	var paused struct {
		RequestID string `json:"requestId"`
		Request   struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &paused) != nil {
		return
	}
	u, err := url.Parse(paused.Request.URL)
	if err != nil {
		return
	}
	p.lock.Lock()
	serve := p.serve
	p.lock.Unlock()
	// The driver's own calls end with the browser.
	ctx := context.Background()
	response, ok := serve(u.Path)
	if !ok {
		err = p.call(ctx, "Fetch.continueRequest", map[string]any{"requestId": paused.RequestID}, nil)
	} else {
		err = p.call(ctx, "Fetch.fulfillRequest", map[string]any{
			"requestId":       paused.RequestID,
			"responseCode":    200,
			"responseHeaders": []any{map[string]any{"name": "Content-Type", "value": response.Type}},
			"body":            base64.StdEncoding.EncodeToString(response.Body),
		}, nil)
	}
	if err != nil {
		fmt.Fprintln(p.log, "driver:", err)
	}
}

func consoleLine(method string, params json.RawMessage) string {
	var console struct {
		Type string `json:"type"`
		Args []struct {
			Value       any    `json:"value"`
			Description string `json:"description"`
		} `json:"args"`
		ExceptionDetails struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if json.Unmarshal(params, &console) != nil {
		return method + " " + string(params)
	}
	if method == "Runtime.exceptionThrown" {
		return "uncaught: " + console.ExceptionDetails.Text + " " + console.ExceptionDetails.Exception.Description
	}
	line := console.Type + ":"
	for _, a := range console.Args {
		if a.Value != nil {
			line += " " + fmt.Sprint(a.Value)
		} else {
			line += " " + a.Description
		}
	}
	return line
}
