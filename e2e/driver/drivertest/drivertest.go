// Package drivertest has the tests that every browser's driver passes.
package drivertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/hyroute/hyroute/e2e/driver"
)

// Page is what the stage does with a tab, whatever browser it is of.
type Page interface {
	Serve(ctx context.Context, serve driver.Server, patterns ...string) error
	Listen(ctx context.Context, name string, fn func(payload string)) error
	Open(ctx context.Context, url string) error
	Eval(ctx context.Context, expression string, result any) error
	Call(ctx context.Context, function string, result any, arguments ...any) error
}

// TestPage holds a fresh tab to what every driver promises.
func TestPage(t *testing.T, page Page) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("from the server: " + r.URL.Path))
	}))
	defer server.Close()
	err := page.Serve(t.Context(), func(path string) (driver.Response, bool) {
		return driver.Response{Type: "text/html", Body: []byte("<title>from the driver</title><script>window.sum = (a, b) => a + b</script>")}, path == "/e2e/page"
	}, "/e2e/*")
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 1)
	if err := page.Listen(t.Context(), "tell", func(payload string) { told <- payload }); err != nil {
		t.Fatal(err)
	}
	if err := page.Open(t.Context(), server.URL+"/e2e/page"); err != nil {
		t.Fatal(err)
	}

	var title, text string
	var sum int
	if err := page.Eval(t.Context(), "document.title", &title); err != nil || title != "from the driver" {
		t.Errorf("the title is %q (%v)", title, err)
	}
	if err := page.Call(t.Context(), "sum", &sum, 2, 3); err != nil || sum != 5 {
		t.Errorf("the sum is %d (%v)", sum, err)
	}
	for _, path := range []string{"/e2e/other", "/other"} {
		if err := page.Eval(t.Context(), "fetch('"+path+"').then(r => r.text())", &text); err != nil || text != "from the server: "+path {
			t.Errorf("%s gives %q (%v)", path, text, err)
		}
	}
	if err := page.Eval(t.Context(), "tell('news')", nil); err != nil {
		t.Fatal(err)
	}
	if news := <-told; news != "news" {
		t.Errorf("the page told %q", news)
	}
	if err := page.Eval(t.Context(), "nothing.like.that", nil); err == nil {
		t.Error("an exception of the page is no error")
	}
}
