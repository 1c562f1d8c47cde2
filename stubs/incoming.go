package stubs

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/frame"
	"github.com/hyroute/hyroute/runtime/message"
)

// binary takes a relay envelope. b is used again afterwards.
func (l *link) binary(b []byte) {
	e, err := frame.ReadEnvelope(b)
	if err != nil {
		l.complain(err.Error())
		return
	}
	switch e.Kind {
	case frame.KindName:
		runtime, err := address.Parse(e.Runtime)
		if err != nil || !runtime.IsRuntime() {
			l.complain("stubs: NAME of " + strconv.QuoteToASCII(e.Runtime) + ", which is no runtime")
			return
		}
		l.node.emit(Named{Handle: e.Handle, Runtime: runtime})
	case frame.KindForward:
		size := frame.HeadSize(e.Frame)
		if size == 0 {
			l.complain("stubs: a frame is shorter than its header says")
			return
		}
		whole := append(make([]byte, 0, len(e.Frame)), e.Frame...)
		l.node.emit(Frame{Handle: e.Handle, Head: whole[:size:size], Payload: whole[size:]})
	case frame.KindNotice:
		l.node.emit(Noticed{Handle: e.Handle, Reason: e.Reason, Head: append([]byte(nil), e.Frame...)})
	}
}

// text takes a JSON message. b is used again afterwards.
func (l *link) text(b []byte) {
	e, err := message.Parse(b)
	if err != nil {
		l.complain(err.Error())
		return
	}
	e.Body = append([]byte(nil), e.Body...)
	switch {
	case strings.HasPrefix(e.From, "mn:"):
		l.ofNode(e)
	case e.Type == message.Response && l.answers(e):
	case l.notifies(e):
	default:
		l.node.emit(Received{Envelope: e})
	}
}

// ofNode takes what the node itself says: the answer to open, other ICE servers, or that it could not read something.
func (l *link) ofNode(e message.Envelope) {
	if e.From == "mn:/session" && e.Type == message.Update {
		l.renewed(e.Body)
	}
	if e.Type != message.Response {
		return
	}
	if e.From == "mn:/session" && e.ID == openID && !l.opened {
		l.openAnswered(e.Body)
		return
	}
	_, desc := answerCode(e.Body)
	l.complain(e.From + ": " + desc)
}

// notifies takes a notification of a Domain Registry, and says whether e is one.
func (l *link) notifies(e message.Envelope) bool {
	entity, ok := strings.CutSuffix(e.To, "/registration")
	if !ok || e.Type != message.Update {
		return false
	}
	from, err := address.Parse(e.From)
	if err != nil || from.Class() != address.Backend || !strings.HasPrefix(from.Host(), "registry.") {
		return false
	}
	var body struct{ Value, Resource string }
	target, err := address.Parse(entity)
	if err != nil || json.Unmarshal(e.Body, &body) != nil || body.Value != "live" && body.Value != "disconnected" {
		l.complain("stubs: a notification of " + e.From + " can not be read")
		return true
	}
	l.node.emit(Notified{Entity: target, Status: body.Value})
	return true
}

func (l *link) complain(text string) { l.node.emit(Complained{Text: text}) }

// answerCode reads the code and the text of an answer. A body without a code counts as 500.
func answerCode(body []byte) (code uint64, desc string) {
	var b struct {
		Code        uint64 `json:"code"`
		Desc        string `json:"desc"`
		Description string `json:"description"`
	}
	if json.Unmarshal(body, &b) != nil || b.Code == 0 {
		return 500, "the answer has no code"
	}
	if b.Desc == "" {
		b.Desc = b.Description
	}
	return b.Code, b.Desc
}

type iceServerJSON struct {
	URLs       json.RawMessage `json:"urls"`
	Username   string          `json:"username"`
	Credential string          `json:"credential"`
}

// renewed reports the ICE servers of a body, if it names any.
func (l *link) renewed(body []byte) {
	if servers, ok := readServers(body); ok {
		l.node.emit(Renewed{ICEServers: servers})
	}
}

// readServers reads the ICE servers of a body, and says whether it names any.
func readServers(body []byte) ([]ICEServer, bool) {
	var told struct {
		ICEServers []iceServerJSON `json:"iceServers"`
	}
	if json.Unmarshal(body, &told) != nil || told.ICEServers == nil {
		return nil, false
	}
	return iceServers(told.ICEServers), true
}

// maxICEServers bounds what a node can make its clients ask.
const maxICEServers = 16

// iceServers takes urls as one string or as a list of them, as browsers do, and leaves out what is neither.
func iceServers(list []iceServerJSON) []ICEServer {
	var servers []ICEServer
	for _, s := range list[:min(len(list), maxICEServers)] {
		var one string
		var many []string
		if json.Unmarshal(s.URLs, &many) != nil {
			if json.Unmarshal(s.URLs, &one) != nil {
				continue
			}
			many = []string{one}
		}
		servers = append(servers, ICEServer{URLs: many, Username: s.Username, Credential: s.Credential})
	}
	return servers
}
