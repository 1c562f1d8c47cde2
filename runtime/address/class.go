package address

import "strings"

// Class says which way an address may take at all.
type Class uint8

// The classes, in the order in which they are tested.
const (
	None        Class = iota // the zero Address
	Backend                  // a function of a service provider: always the Message Node (steps 4-5)
	Signalling               // a component that sets up peer connections: always the Message Node (step 25)
	Runtime                  // a runtime or a component of one
	Publish                  // <object>/changes and the like: local subscribers and the domain's node
	Entity                   // a Hyperty, a data object, a user: found by the Domain Registry (steps 8-17)
	Destination              // queue:// and topic://
)

var classNames = [...]string{"none", "backend", "signalling", "runtime", "publish", "entity", "destination"}

func (c Class) String() string { return classNames[c] }

// classOf is the table. host and path are canonical; path is empty or begins with a slash.
func classOf(scheme, host, path string) Class {
	switch scheme {
	case "domain", "global", "domain-idp":
		return Backend
	case "queue", "topic":
		return Destination
	}
	if strings.HasPrefix(host, "msg-node.") || strings.HasPrefix(host, "registry.") {
		return Backend
	}
	if scheme == "runtime" {
		return classOfComponent(below(path))
	}
	if publishes(below(path)) {
		return Publish
	}
	return Entity
}

// below is what comes after the first segment of a path, without the slash between them.
func below(path string) string {
	_, sub, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return sub
}

// classOfComponent takes the part of a runtime's path after its id.
func classOfComponent(sub string) Class {
	name, _, _ := strings.Cut(sub, "/")
	switch name {
	case "p2p", "p2phandler", "p2prequester":
		return Signalling
	}
	if sub == "registry/changes" || sub == "status" || strings.HasSuffix(sub, "/status") {
		return Publish
	}
	return Runtime
}

// publishes says whether the sub-path of an entity has many listeners (routing.md 1.4).
func publishes(sub string) bool {
	first, _, _ := strings.Cut(sub, "/")
	switch first {
	case "children":
		return true
	case "changes", "registration", "status":
		return sub == first
	}
	return false
}
