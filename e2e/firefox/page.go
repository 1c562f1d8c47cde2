package firefox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/hyroute/hyroute/e2e/driver"
)

// Page is a tab.
type Page struct {
	browser *Browser
	context string
	log     io.Writer

	told driver.Listeners

	lock     sync.Mutex
	serve    driver.Server
	patterns []string
}

// Serve answers requests for paths like the patterns (with * for anything at an end), of whatever origin, in place of a
// server; where serve says false, the server is asked. It may take its time.
func (p *Page) Serve(ctx context.Context, serve driver.Server, patterns ...string) error {
	p.lock.Lock()
	p.serve, p.patterns = serve, patterns
	p.lock.Unlock()
	intercept := fields{"phases": []string{"beforeRequestSent"}, "contexts": []string{p.context}}
	// Patterns of the protocol know no wildcards: where there are any every request of the page is stopped, and most go on.
	if !slices.ContainsFunc(patterns, func(pattern string) bool { return strings.Contains(pattern, "*") }) {
		var urls []any
		for _, pattern := range patterns {
			urls = append(urls, fields{"type": "pattern", "pathname": pattern})
		}
		intercept["urlPatterns"] = urls
	}
	return p.browser.call(ctx, "network.addIntercept", intercept, nil)
}

// Listen has fn called with each string that the page gives to its function window[name]. It must not wait for the page.
func (p *Page) Listen(ctx context.Context, name string, fn func(payload string)) error {
	p.told.Listen(name, fn)
	function := "(channel) => { window[" + driver.Quoted(name) + "] = channel }"
	channel := []any{fields{"type": "channel", "value": fields{"channel": name}}}
	err := p.browser.call(ctx, "script.addPreloadScript",
		fields{"functionDeclaration": function, "arguments": channel, "contexts": []string{p.context}}, nil)
	if err != nil {
		return err
	}
	// The document that is there already.
	return p.browser.call(ctx, "script.callFunction",
		fields{"functionDeclaration": function, "arguments": channel, "target": fields{"context": p.context}, "awaitPromise": false}, nil)
}

// Open loads a document, and returns when its scripts have run.
func (p *Page) Open(ctx context.Context, url string) error {
	return p.browser.call(ctx, "browsingContext.navigate", fields{"context": p.context, "url": url, "wait": "complete"}, nil)
}

// Eval evaluates an expression, waits for it if it is a promise, and reads its value into result unless that is nil.
func (p *Page) Eval(ctx context.Context, expression string, result any) error {
	// Values come as JSON: the protocol's own form of them is not.
	if result != nil {
		expression = "(async () => JSON.stringify(await (" + expression + ")))()"
	}
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails *struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	params := fields{"expression": expression, "awaitPromise": true, "target": fields{"context": p.context}}
	if err := p.browser.call(ctx, "script.evaluate", params, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return errors.New("firefox: the page threw: " + e.Text)
	}
	if result == nil {
		return nil
	}
	var text string
	if json.Unmarshal(answer.Result.Value, &text) != nil {
		return errors.New("firefox: the expression has no value: " + expression)
	}
	return json.Unmarshal([]byte(text), result)
}

// Call calls a function of the page with arguments, as Eval.
func (p *Page) Call(ctx context.Context, function string, result any, arguments ...any) error {
	return p.Eval(ctx, driver.CallOf(function, arguments...), result)
}

// Close closes the tab.
func (p *Page) Close(ctx context.Context) error {
	p.browser.lock.Lock()
	delete(p.browser.pages, p.context)
	p.browser.lock.Unlock()
	return p.browser.call(ctx, "browsingContext.close", fields{"context": p.context}, nil)
}

func (p *Page) event(method string, params json.RawMessage) {
	switch method {
	case "network.beforeRequestSent":
		go p.answer(params)
	case "script.message":
		var said struct {
			Channel string `json:"channel"`
			Data    struct {
				Value string `json:"value"`
			} `json:"data"`
		}
		if json.Unmarshal(params, &said) == nil {
			p.told.Tell(said.Channel, said.Data.Value)
		}
	case "log.entryAdded":
		var entry struct {
			Level  string `json:"level"`
			Text   string `json:"text"`
			Method string `json:"method"`
		}
		if json.Unmarshal(params, &entry) == nil {
			kind := entry.Method
			if kind == "" { // not by the console
				kind = "uncaught " + entry.Level
			}
			fmt.Fprintf(p.log, "%s: %s\n", kind, entry.Text)
		}
	}
}

// answer settles one request that was stopped on its way. Errors are the browser's end or the page's: nobody waits then.
func (p *Page) answer(params json.RawMessage) {
	var stopped struct {
		IsBlocked bool `json:"isBlocked"`
		Request   struct {
			Request string `json:"request"`
			URL     string `json:"url"`
		} `json:"request"`
	}
	if json.Unmarshal(params, &stopped) != nil || !stopped.IsBlocked {
		return
	}
	p.lock.Lock()
	serve, patterns := p.serve, p.patterns
	p.lock.Unlock()
	var response driver.Response
	var ok bool
	if u, err := url.Parse(stopped.Request.URL); err == nil && driver.Matches(u.Path, patterns) {
		response, ok = serve(u.Path)
	}
	// The driver's own calls end with the browser.
	ctx := context.Background()
	var err error
	if !ok {
		err = p.browser.call(ctx, "network.continueRequest", fields{"request": stopped.Request.Request}, nil)
	} else {
		err = p.browser.call(ctx, "network.provideResponse", fields{
			"request":      stopped.Request.Request,
			"statusCode":   200,
			"reasonPhrase": "OK",
			"headers":      []any{fields{"name": "Content-Type", "value": fields{"type": "string", "value": response.Type}}},
			"body":         fields{"type": "base64", "value": base64.StdEncoding.EncodeToString(response.Body)},
		}, nil)
	}
	if err != nil {
		fmt.Fprintln(p.log, "driver:", err)
	}
}
