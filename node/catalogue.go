package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

const catalogue = "/.well-known/protocolstub/"

func inCatalogue(path string) bool { return strings.HasPrefix(path, catalogue) }

// stubDescriptor says how to reach this node (routing.md section 12).
type stubDescriptor struct {
	Name        string `json:"name"`
	Constraints struct {
		Browser bool `json:"browser"`
	} `json:"constraints"`
	Configuration struct {
		URL        string          `json:"url"`
		Domain     string          `json:"domain"`
		ICEServers json.RawMessage `json:"iceServers"`
		ICEExpires int             `json:"iceExpires,omitempty"` // s from now
	} `json:"configuration"`
}

func (n *Node) serveCatalogue(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	if r.URL.Path != catalogue+"default.json" {
		http.NotFound(w, r)
		return
	}
	var d stubDescriptor
	d.Name = "default"
	d.Constraints.Browser = true
	d.Configuration.URL = n.socketURL(r)
	d.Configuration.Domain = n.config.Domain
	list, lifetime := n.iceServers(userCatalogue)
	d.Configuration.ICEServers, d.Configuration.ICEExpires = list, int(lifetime/time.Second)
	body, err := json.Marshal(d)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	// Pages of other origins may look up where this node is; nothing here depends on who asks.
	h.Set("Access-Control-Allow-Origin", "*")
	w.Write(body)
}

func (n *Node) socketURL(r *http.Request) string {
	if n.config.URL != "" {
		return n.config.URL
	}
	if r.TLS != nil {
		return "wss://" + r.Host + "/ws"
	}
	return "ws://" + r.Host + "/ws"
}
