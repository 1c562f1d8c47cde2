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
		switch component(path) {
		case "p2p", "p2phandler", "p2prequester":
			return Signalling
		case "registry":
			if strings.HasSuffix(path, "/registry/changes") {
				return Publish
			}
		case "status":
			return Publish
		}
		if strings.HasSuffix(path, "/status") {
			return Publish
		}
		return Runtime
	}
	if publishes(path) {
		return Publish
	}
	return Entity
}

// component is the second segment of a runtime's path: the part after the id.
func component(path string) string {
	_, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// publishes says whether the sub-path of an entity has many listeners (routing.md 1.4).
func publishes(path string) bool {
	_, sub, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(sub, "/")
	switch first {
	case "children":
		return true
	case "changes", "registration", "status":
		return sub == first
	}
	return false
}
