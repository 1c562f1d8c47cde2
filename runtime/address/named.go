package address

// IsRuntimeID says whether s has the form of a runtime's id: 32 characters of lower-case base32, the fingerprint of a key
// (docs/protocol.md section 1).
func IsRuntimeID(s string) bool {
	if len(s) != 32 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}

// Namesake is the runtime that an entity is named after: the one of the entity's domain whose id the entity has for an id. It is
// the zero Address if the entity's id does not have the form of a runtime's.
func (a Address) Namesake() Address {
	if a.Class() != Entity || !IsRuntimeID(a.ID()) {
		return Address{}
	}
	return build("runtime", a.Host(), "/"+a.ID())
}
