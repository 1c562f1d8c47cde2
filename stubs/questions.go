package stubs

import (
	"encoding/json"
	"sync"

	"github.com/coder/websocket"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// maxQuestions is how many questions of one connection may be open. The machine gives up on a job by itself and says
// nothing of it here, so the oldest makes room.
const maxQuestions = 4096

// questions ties answers to jobs, for one connection: what is open when it ends is forgotten with it.
type questions struct {
	mu   sync.Mutex
	next uint64 // the id to use next
	old  uint64 // no id below this one is open
	jobs map[uint64]question
}

type question struct {
	job  uint64
	read bool // a registry entry is asked for
}

func (q *questions) add(job question) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.jobs == nil {
		q.jobs, q.next, q.old = map[uint64]question{}, firstID, firstID
	}
	for len(q.jobs) >= maxQuestions {
		delete(q.jobs, q.old)
		q.old++
	}
	id := q.next
	q.next++
	q.jobs[id] = job
	return id
}

func (q *questions) take(id uint64) (question, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	job, ok := q.jobs[id]
	delete(q.jobs, id)
	return job, ok
}

// asker is the component of the runtime that asks on behalf of the machine: answers to it are answers to jobs.
func (n *Node) asker() address.Address { return n.config.Runtime.Join("sm") }

func (n *Node) ask(q question, kind message.Type, to string, body any) error {
	l := n.current()
	if l == nil {
		return ErrNotLive
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	e := message.Envelope{ID: l.asked.add(q), Type: kind, From: n.asker().String(), To: to, Body: text}
	if err := l.queue.put(websocket.MessageText, e.Append(nil)); err != nil {
		l.asked.take(e.ID)
		return err
	}
	return nil
}

// answers takes the answer to a job, and says whether e is one. An answer that nobody waits for any more is one too.
func (l *link) answers(e message.Envelope) bool {
	if e.To != l.node.asker().String() {
		return false
	}
	q, ok := l.asked.take(e.ID)
	if !ok {
		return true
	}
	answer := Answered{Job: q.job}
	answer.Code, _ = answerCode(e.Body)
	if q.read && answer.Code == 200 {
		readEntry(e.Body, &answer)
	}
	l.node.emit(answer)
	return true
}

// readEntry takes the runtime out of a registry entry. An entry that is not live counts as one that is not there now.
func readEntry(body []byte, answer *Answered) {
	var b struct {
		Value struct {
			Runtime  string          `json:"runtime"`
			Status   string          `json:"status"`
			Sessions json.RawMessage `json:"sessions"`
		} `json:"value"`
	}
	if json.Unmarshal(body, &b) != nil {
		answer.Code = 500
		return
	}
	if b.Value.Status != "" && b.Value.Status != "live" {
		answer.Code = 408
		return
	}
	runtime, err := address.Parse(b.Value.Runtime)
	if err != nil || !runtime.IsRuntime() {
		answer.Code = 500
		return
	}
	answer.Runtime = runtime
	switch string(b.Value.Sessions) {
	case "1", "true":
		answer.Sessions = true
	}
}

// The questions of the machine. Each is answered by an Answered with its job, or, when the connection ends first, by nothing.

// Query asks registry for the entry of resource.
func (n *Node) Query(job uint64, registry, resource address.Address) error {
	return n.ask(question{job: job, read: true}, message.Read, registry.String(), resourceBody{Resource: resource.String()})
}

// Register asks the node's Domain Registry for an entry of a that lives for as long as expires, in seconds, without Refresh.
func (n *Node) Register(job uint64, a address.Address, expires uint64) error {
	var body struct {
		Value struct {
			URL      string `json:"url"`
			Runtime  string `json:"runtime"`
			Status   string `json:"status"`
			Expires  uint64 `json:"expires"`
			Sessions int    `json:"sessions"`
		} `json:"value"`
	}
	v := &body.Value
	v.URL, v.Runtime, v.Status, v.Expires, v.Sessions = a.String(), n.config.Runtime.String(), "live", expires, 1
	return n.ask(question{job: job}, message.Create, n.registry(), body)
}

// Refresh keeps the entry of a alive.
func (n *Node) Refresh(job uint64, a address.Address) error {
	return n.ask(question{job: job}, message.Update, n.registry(), resourceBody{Resource: a.String(), Method: "refresh"})
}

// Unregister deletes the entry of a.
func (n *Node) Unregister(job uint64, a address.Address) error {
	return n.ask(question{job: job}, message.Delete, n.registry(), resourceBody{Resource: a.String()})
}

// Subscribe asks the node for what is sent to these addresses.
func (n *Node) Subscribe(job uint64, addresses []address.Address) error {
	body := struct {
		Subscribe []string `json:"subscribe"`
	}{texts(addresses)}
	return n.ask(question{job: job}, message.Subscribe, n.subscriptions(), body)
}

// Unsubscribe takes Subscribe back.
func (n *Node) Unsubscribe(job uint64, addresses []address.Address) error {
	body := struct {
		Unsubscribe []string `json:"unsubscribe"`
	}{texts(addresses)}
	return n.ask(question{job: job}, message.Unsubscribe, n.subscriptions(), body)
}

type resourceBody struct {
	Resource string `json:"resource"`
	Method   string `json:"method,omitempty"`
}

func (n *Node) registry() string      { return "domain://registry." + n.config.Domain }
func (n *Node) subscriptions() string { return "domain://msg-node." + n.config.Domain + "/sm" }

func texts(addresses []address.Address) []string {
	list := make([]string, len(addresses))
	for i, a := range addresses {
		list[i] = a.String()
	}
	return list
}
