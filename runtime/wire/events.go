package wire

import "github.com/hyroute/hyroute/runtime/engine"

// event walks over the field list of an event, its verb first.
func (f *fields) event(e engine.Event) {
	switch e := e.(type) {
	case *engine.EndpointRegistered:
		f.verb("endpoint-registered")
		endpointRegistered(f, e)
	case *engine.EndpointUnregistered:
		f.verb("endpoint-unregistered")
		endpointUnregistered(f, e)
	case *engine.MessagePosted:
		f.verb("message-posted")
		messagePosted(f, e)
	case *engine.AnswerReceived:
		f.verb("answer-received")
		answerReceived(f, e)
	case *engine.FrameReceived:
		f.verb("frame-received")
		frameReceived(f, e)
	case *engine.HandleNamed:
		f.verb("handle-named")
		handleNamed(f, e)
	case *engine.NoticeReceived:
		f.verb("notice-received")
		noticeReceived(f, e)
	case *engine.JSONReceived:
		f.verb("json-received")
		jsonReceived(f, e)
	case *engine.StubChanged:
		f.verb("stub-changed")
		stubChanged(f, e)
	case *engine.StubBlocked:
		f.verb("stub-blocked")
		stubBlocked(f, e)
	case *engine.StubWritable:
		f.verb("stub-writable")
		stubWritable(f, e)
	case *engine.RegistryAnswered:
		f.verb("registry-answered")
		registryAnswered(f, e)
	case *engine.RegistrationNotified:
		f.verb("registration-notified")
		registrationNotified(f, e)
	case *engine.SignalReceived:
		f.verb("signal-received")
		signalReceived(f, e)
	case *engine.PeerListed:
		f.verb("peer-listed")
		peerListed(f, e)
	case *engine.NetworkChanged:
		f.verb("network-changed")
	case *engine.DeliveryTaken:
		f.verb("delivery-taken")
		deliveryTaken(f, e)
	case *engine.DeliveryRefused:
		f.verb("delivery-refused")
		deliveryRefused(f, e)
	case *engine.ExplanationAsked:
		f.verb("explanation-asked")
		explanationAsked(f, e)
	case *engine.Restored:
		f.verb("restored")
		restored(f, e)
	case *engine.StatsAsked:
		f.verb("stats-asked")
		f.number("job", &e.Job)
	case *engine.Closing:
		f.verb("closing")
	case *engine.TimePassed:
		f.verb("time-passed")
	}
}

// statuses are the words of engine.Status.
var statuses = []string{"created", "in-progress", "live", "disconnected", "failed"}

// wish is a word, or left out where the sender has none.
func (f *fields) wish(key string, v *engine.Wish) {
	if f.begin(key, *v != engine.WishNever) && f.only("never") {
		*v = engine.WishNever
	}
}

// newEvent is the empty event of a verb, nil if there is none.
func newEvent(verb []byte) engine.Event {
	switch string(verb) {
	case "endpoint-registered":
		return new(engine.EndpointRegistered)
	case "endpoint-unregistered":
		return new(engine.EndpointUnregistered)
	case "message-posted":
		return new(engine.MessagePosted)
	case "answer-received":
		return new(engine.AnswerReceived)
	case "frame-received":
		return new(engine.FrameReceived)
	case "handle-named":
		return new(engine.HandleNamed)
	case "notice-received":
		return new(engine.NoticeReceived)
	case "json-received":
		return new(engine.JSONReceived)
	case "stub-changed":
		return new(engine.StubChanged)
	case "stub-blocked":
		return new(engine.StubBlocked)
	case "stub-writable":
		return new(engine.StubWritable)
	case "registry-answered":
		return new(engine.RegistryAnswered)
	case "registration-notified":
		return new(engine.RegistrationNotified)
	case "signal-received":
		return new(engine.SignalReceived)
	case "peer-listed":
		return new(engine.PeerListed)
	case "network-changed":
		return new(engine.NetworkChanged)
	case "delivery-taken":
		return new(engine.DeliveryTaken)
	case "delivery-refused":
		return new(engine.DeliveryRefused)
	case "explanation-asked":
		return new(engine.ExplanationAsked)
	case "restored":
		return new(engine.Restored)
	case "stats-asked":
		return new(engine.StatsAsked)
	case "closing":
		return new(engine.Closing)
	case "time-passed":
		return new(engine.TimePassed)
	}
	return nil
}

func endpointRegistered(f *fields, e *engine.EndpointRegistered) {
	f.address("address", &e.Address)
}

func endpointUnregistered(f *fields, e *engine.EndpointUnregistered) {
	f.address("address", &e.Address)
}

func messagePosted(f *fields, e *engine.MessagePosted) {
	f.number("msg", &e.Msg)
	f.address("from", &e.From)
	f.address("to", &e.To)
	f.count("size", &e.Size)
	f.wish("wish", &e.Wish)
	f.number("deadline", &e.Deadline)
	f.number("answer", &e.Answer)
	f.flag("plain", &e.Plain)
	f.text("lane", &e.Lane)
}

func answerReceived(f *fields, e *engine.AnswerReceived) {
	f.number("msg", &e.Msg)
}

func frameReceived(f *fields, e *engine.FrameReceived) {
	f.number("stub", &e.Stub)
	f.number("handle", &e.Handle)
	f.number("frame", &e.Frame)
	f.bytes("head", &e.Head)
	f.count("size", &e.Size)
}

func handleNamed(f *fields, e *engine.HandleNamed) {
	f.number("stub", &e.Stub)
	f.number("handle", &e.Handle)
	f.address("runtime", &e.Runtime)
}

func noticeReceived(f *fields, e *engine.NoticeReceived) {
	f.number("stub", &e.Stub)
	f.number("handle", &e.Handle)
	f.number("reason", &e.Reason)
	f.bytes("head", &e.Head)
}

func jsonReceived(f *fields, e *engine.JSONReceived) {
	f.number("json", &e.JSON)
	f.number("stub", &e.Stub)
	f.address("from", &e.From)
	f.address("to", &e.To)
}

func stubChanged(f *fields, e *engine.StubChanged) {
	f.number("stub", &e.Stub)
	f.word("status", (*uint8)(&e.Status), statuses)
	f.flag("resumed", &e.Resumed)
	f.text("reason", &e.Reason)
}

func stubBlocked(f *fields, e *engine.StubBlocked) {
	f.number("stub", &e.Stub)
}

func stubWritable(f *fields, e *engine.StubWritable) {
	f.number("stub", &e.Stub)
}

func registryAnswered(f *fields, e *engine.RegistryAnswered) {
	f.number("job", &e.Job)
	f.number("code", &e.Code)
	f.address("runtime", &e.Runtime)
	f.flag("sessions", &e.Sessions)
}

func registrationNotified(f *fields, e *engine.RegistrationNotified) {
	f.address("address", &e.Address)
	f.text("status", &e.Status)
}

func signalReceived(f *fields, e *engine.SignalReceived) {
	f.address("peer", &e.Peer)
	f.text("kind", &e.Kind)
	f.number("attempt", &e.Attempt)
}

func peerListed(f *fields, e *engine.PeerListed) {
	f.address("peer", &e.Peer)
	f.addressList("addresses", &e.Addresses)
}

func deliveryTaken(f *fields, e *engine.DeliveryTaken) {
	f.number("delivery", &e.Delivery)
}

func deliveryRefused(f *fields, e *engine.DeliveryRefused) {
	f.number("delivery", &e.Delivery)
	f.text("reason", &e.Reason)
}

func explanationAsked(f *fields, e *engine.ExplanationAsked) {
	f.number("job", &e.Job)
	f.address("from", &e.From)
	f.address("to", &e.To)
	f.wish("wish", &e.Wish)
}

func restored(f *fields, e *engine.Restored) {
	f.number("wall", &e.Wall)
	f.bits("seed", &e.Seed)
	f.textList("domains", &e.Domains)
	f.flag("direct", &e.Direct)
}
