package resolver

import "github.com/hyroute/hyroute/runtime/address"

// Entry is what is known of a remote entity: a Domain Registry entry, or that there is none.
type Entry struct {
	Runtime  address.Address // where it lives; zero: nowhere now
	Sessions bool            // that runtime speaks sessions
	Code     uint64          // of the answer
	entity   address.Address
	until    uint64
	use      uint64
}

// Remember notes the registry's answer about an entity.
func (r *Resolver) Remember(entity address.Address, code uint64, runtime address.Address, sessions bool) {
	e := &Entry{Code: code, entity: entity}
	r.last = decision{}
	switch {
	case code == 200 && runtime == r.self:
		// Nobody listens here: the entry is about to go.
		e.Code, e.until = 404, r.now+r.numbers.Absent
	case code == 200 && runtime.IsRuntime():
		e.Runtime, e.Sessions = runtime, sessions
		e.until = r.now + r.numbers.Found
	case code == 404:
		e.until = r.now + r.numbers.Absent
	default:
		e.until = r.now + r.numbers.Silent
	}
	if r.entries[entity] == nil && len(r.entries) >= r.numbers.Entries {
		r.forgetOne()
	}
	r.uses++
	e.use = r.uses
	r.entries[entity] = e
}

// forgetOne drops the entry that was not used for the longest time.
func (r *Resolver) forgetOne() {
	var oldest address.Address
	least := ^uint64(0)
	for a, e := range r.entries {
		if e.use < least {
			oldest, least = a, e.use
		}
	}
	delete(r.entries, oldest)
}

// Forget drops what is known of an entity.
func (r *Resolver) Forget(entity address.Address) {
	r.last = decision{}
	delete(r.entries, entity)
}

// Known is what is known of an entity now: nil if nothing, or nothing fresh enough.
func (r *Resolver) Known(entity address.Address) *Entry {
	if e := r.entries[entity]; e != nil && r.use(e) {
		return e
	}
	return nil
}

// use notes the use of an entry, unless it is too old.
func (r *Resolver) use(e *Entry) bool {
	if r.now >= e.until {
		return false
	}
	r.uses++
	e.use = r.uses
	return true
}

// Until is the time up to which the entry is believed.
func (e *Entry) Until() uint64 { return e.until }

// Recent says whether it was found only just now where an entity lives, so that asking again would tell nothing new.
func (r *Resolver) Recent(entity address.Address) bool {
	e := r.entries[entity]
	return e != nil && !e.Runtime.IsZero() && r.now+r.numbers.Found < e.until+r.numbers.Absent
}

// Stale is what was last known of an entity, however old.
func (r *Resolver) Stale(entity address.Address) *Entry { return r.entries[entity] }
