package node

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hyroute/hyroute/node/engine"
	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/runtime/message"
)

// maxExpires is the longest life of an entry that is not refreshed.
const maxExpires = time.Hour

// registryBody is the body of a message to the Domain Registry.
type registryBody struct {
	Resource  string          `json:"resource"`
	Value     json.RawMessage `json:"value"`
	Attribute string          `json:"attribute"`
}

func readRegistryBody(body []byte) (*registryBody, *refusal) {
	var r registryBody
	if len(body) == 0 {
		return nil, refuse(400, "body: missing")
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, refuse(400, wrongField(err))
	}
	return &r, nil
}

func (r *registryBody) resource() (address.Address, *refusal) {
	if r.Resource == "" {
		return address.Address{}, refuse(400, "body.resource: missing")
	}
	url, err := address.Parse(r.Resource)
	if err != nil {
		return address.Address{}, refuse(400, "body.resource: "+trimPackage(err))
	}
	return url, nil
}

// entryFields is what a client says of an entry. What it does not say is nil or zero.
type entryFields struct {
	url, runtime address.Address
	user         string
	live         *bool
	sessions     *bool
	expires      time.Duration
	extra        map[string]json.RawMessage
}

// The members of a value that the node knows, or makes itself.
var reading = map[string]func(*entryFields, json.RawMessage) error{
	"url":          func(f *entryFields, v json.RawMessage) error { return readAddress(v, &f.url) },
	"hypertyID":    func(f *entryFields, v json.RawMessage) error { return readAddress(v, &f.url) },
	"runtime":      func(f *entryFields, v json.RawMessage) error { return readAddress(v, &f.runtime) },
	"user":         func(f *entryFields, v json.RawMessage) error { return json.Unmarshal(v, &f.user) },
	"userID":       func(f *entryFields, v json.RawMessage) error { return json.Unmarshal(v, &f.user) },
	"status":       readStatus,
	"sessions":     readSessions,
	"expires":      readExpires,
	"startingTime": nil,
	"lastModified": nil,
}

// fields reads the value: an object, or (to update) nothing, or the status alone.
func (r *registryBody) fields() (*entryFields, *refusal) {
	f := &entryFields{}
	if len(r.Value) == 0 || string(r.Value) == "null" {
		return f, nil
	}
	if r.Value[0] == '"' && r.Attribute == "status" {
		if err := readStatus(f, r.Value); err != nil {
			return nil, refuse(400, "body.value: "+err.Error())
		}
		return f, nil
	}
	if err := json.Unmarshal(r.Value, &f.extra); err != nil {
		return nil, refuse(400, "body.value: not an object")
	}
	for name, read := range reading {
		value, ok := f.extra[name]
		if !ok {
			continue
		}
		delete(f.extra, name)
		if read == nil {
			continue
		}
		if err := read(f, value); err != nil {
			if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				err = errors.New("of the wrong type")
			}
			return nil, refuse(400, "body.value."+name+": "+err.Error())
		}
	}
	return f, nil
}

func readAddress(v json.RawMessage, into *address.Address) error {
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return err
	}
	a, err := address.Parse(text)
	if err != nil {
		return errors.New(trimPackage(err))
	}
	if !into.IsZero() && *into != a {
		return errors.New("url and hypertyID differ")
	}
	*into = a
	return nil
}

func readStatus(f *entryFields, v json.RawMessage) error {
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return err
	}
	live := text == "live" || text == "created"
	if !live && text != "disconnected" && text != "dead" {
		return errors.New("neither live nor disconnected")
	}
	f.live = &live
	return nil
}

func readSessions(f *entryFields, v json.RawMessage) error {
	sessions := string(v) == "1"
	if !sessions && string(v) != "0" {
		return errors.New("neither 0 nor 1")
	}
	f.sessions = &sessions
	return nil
}

func readExpires(f *entryFields, v json.RawMessage) error {
	seconds, err := strconv.ParseUint(string(v), 10, 63)
	if err != nil || seconds == 0 {
		return errors.New("not a number of seconds from 1 on")
	}
	f.expires = maxExpires
	if seconds < uint64(maxExpires/time.Second) {
		f.expires = time.Duration(seconds) * time.Second
	}
	return nil
}

// apply puts what a client said into e.
func (f *entryFields) apply(e *engine.Entry, limit int) (*engine.Entry, error) {
	if f.user != "" {
		e.User = f.user
	}
	if f.live != nil {
		e.Live = *f.live
	}
	if f.sessions != nil {
		e.Sessions = *f.sessions
	}
	if f.expires != 0 {
		e.Expires = f.expires
	}
	if len(f.extra) > 0 {
		all := map[string]json.RawMessage{}
		if len(e.Extra) > 0 {
			if err := json.Unmarshal(e.Extra, &all); err != nil {
				return nil, err
			}
		}
		maps.Copy(all, f.extra)
		extra, err := json.Marshal(all)
		if err != nil {
			return nil, err
		}
		e.Extra = extra
	}
	if len(e.Extra)+len(e.User) > limit {
		return nil, refuse(400, "body.value: longer than "+strconv.Itoa(limit)+" bytes")
	}
	return e, nil
}

func alive(e *engine.Entry, now time.Time) bool { return e.Live && now.Before(e.Ends()) }

func statusText(live bool) string {
	if live {
		return "live"
	}
	return "disconnected"
}

// appendEntry appends an entry as clients see it.
func appendEntry(b []byte, e *engine.Entry, now time.Time) []byte {
	text := func(name, value string) {
		b = append(append(append(b, `,"`...), name...), `":`...)
		b = message.AppendString(b, value)
	}
	b = message.AppendString(append(b, `{"url":`...), e.URL.String())
	if e.URL.Scheme() == "hyperty" {
		text("hypertyID", e.URL.String())
	}
	if e.User != "" {
		text("userID", e.User)
	}
	text("runtime", e.Runtime.String())
	text("status", statusText(alive(e, now)))
	if e.Sessions {
		b = append(b, `,"sessions":1`...)
	}
	b = strconv.AppendInt(append(b, `,"expires":`...), int64(e.Expires/time.Second), 10)
	text("startingTime", e.Created.UTC().Format(time.RFC3339))
	text("lastModified", e.Modified.UTC().Format(time.RFC3339))
	if len(e.Extra) > len("{}") {
		return append(append(b, ','), e.Extra[1:]...)
	}
	return append(b, '}')
}

const unavailable = "Temporarily Unavailable"

// entryBody is the body of the answer to a read of one entry.
func entryBody(e *engine.Entry, now time.Time) []byte {
	value := appendEntry([]byte(`,"value":`), e, now)
	if alive(e, now) {
		return append(append([]byte(`{"code":200`), value...), '}')
	}
	return refuse(408, unavailable).body(string(value))
}

// entriesBody is the body of the answer to a read of a user's entries.
func entriesBody(found []engine.Entry, now time.Time) []byte {
	if len(found) == 0 {
		return refuse(404, "no such entry").body("")
	}
	value := []byte(`,"value":{`)
	for i := range found {
		if i > 0 {
			value = append(value, ',')
		}
		value = append(message.AppendString(value, found[i].URL.String()), ':')
		value = appendEntry(value, &found[i], now)
	}
	value = append(value, '}')
	if slices.ContainsFunc(found, func(e engine.Entry) bool { return alive(&e, now) }) {
		return append(append([]byte(`{"code":200`), value...), '}')
	}
	return refuse(408, unavailable).body(string(value))
}
