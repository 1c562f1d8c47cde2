package firefox_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/hyroute/hyroute/e2e/driver/drivertest"
	"github.com/hyroute/hyroute/e2e/firefox"
)

func newPage(t *testing.T) *firefox.Page {
	t.Helper()
	path, err := firefox.Find()
	if err != nil {
		t.Skip(err)
	}
	browser, err := firefox.Start(t.Context(), nil, exec.CommandContext(t.Context(), path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	})
	page, err := browser.NewPage(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestPage(t *testing.T) { drivertest.TestPage(t, newPage(t)) }
