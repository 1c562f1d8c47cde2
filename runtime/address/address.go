package address

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxLength is the longest address taken, in bytes.
const MaxLength = 512

// Address is a parsed address in canonical form. The zero value is no address. Two addresses are the same if and only
// if they are ==.
type Address struct {
	url   string
	parts parts
}

// parts says what url is made of. It is one number so that comparing addresses, and keeping them as keys, stays cheap: from the
// lowest bits up, 8 of the class, 8 of the length of the scheme, 16 of the end of the host, 16 of the end of the first
// path segment.
type parts uint64

func (p parts) class() Class   { return Class(p & 0xff) }
func (p parts) schemeEnd() int { return int(p >> 8 & 0xff) }
func (p parts) hostEnd() int   { return int(p >> 16 & 0xffff) }
func (p parts) entityEnd() int { return int(p >> 32 & 0xffff) }

// Parse reads scheme "://" host [ "/" path ]. The ASCII letters of scheme and host are put in lower case, hyperty-runtime
// becomes runtime, and one trailing slash goes. Everything else stays as it is: two paths that differ in a byte are two addresses.
// Neither query nor fragment means anything; "#" may stand in a path (a child object), "?" may not.
func Parse(s string) (Address, error) {
	if s == "" {
		return Address{}, errors.New("address: empty")
	}
	if len(s) > MaxLength {
		return Address{}, errors.New("address: longer than " + strconv.Itoa(MaxLength) + " bytes")
	}
	if !utf8.ValidString(s) {
		return Address{}, malformed(s, "not UTF-8")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return Address{}, malformed(s, "no \"://\" after the scheme")
	}
	if !validScheme(scheme) {
		return Address{}, malformed(s, "a scheme is at most 64 letters, digits and \"-\"")
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if host == "" {
		return Address{}, malformed(s, "no host after \"://\"")
	}
	for i := 0; i < len(host); i++ {
		if !hostByte(host[i]) {
			return Address{}, malformed(s, "the host holds "+quote(host[i:i+1]))
		}
	}
	if strings.HasSuffix(host, "@") {
		return Address{}, malformed(s, "no host after the user")
	}
	for i := 0; i < len(path); i++ {
		if c := path[i]; c <= ' ' || c == 0x7f || c == '?' || c == '"' || c == '<' || c == '>' || c == '\\' {
			return Address{}, malformed(s, "the path holds "+quote(path[i:i+1]))
		}
	}
	if strings.Contains(path, "//") {
		return Address{}, malformed(s, "an empty segment in the path")
	}
	path = strings.TrimSuffix(path, "/")
	scheme, host = lower(scheme), lower(host)
	if scheme == "hyperty-runtime" {
		scheme = "runtime"
	}
	if scheme == "runtime" && path == "" {
		return Address{}, malformed(s, "a runtime needs an id after the host")
	}
	return build(scheme, host, path), nil
}

// MustParse is Parse for addresses that stand in the program. It panics where Parse gives an error.
func MustParse(s string) Address {
	a, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return a
}

func build(scheme, host, path string) Address {
	entity := len(path)
	if i := strings.IndexByte(strings.TrimPrefix(path, "/"), '/'); i >= 0 {
		entity = i + 1
	}
	hostEnd := len(scheme) + 3 + len(host)
	return Address{
		url:   scheme + "://" + host + path,
		parts: parts(classOf(scheme, host, path)) | parts(len(scheme))<<8 | parts(hostEnd)<<16 | parts(hostEnd+entity)<<32,
	}
}

// lower puts ASCII letters in lower case. Other letters have cases that differ from one table to the next.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; c >= 'A' && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

func malformed(s, why string) error {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return errors.New("address: " + quote(s) + ": " + why)
}

// quote shows text in which anything but printable ASCII stands as \xNN.
func quote(s string) string {
	const hex = "0123456789abcdef"
	b := []byte{'"'}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

func validScheme(s string) bool {
	if s == "" || len(s) > 64 || s[0] == '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c >= '0' && c <= '9') {
			return false
		}
	}
	return true
}

func hostByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c >= 0x80:
		return true
	}
	return strings.IndexByte("-@:%._+~#=[]!$&'*", c) >= 0
}

// String is the canonical form. It is empty for the zero Address.
func (a Address) String() string { return a.url }

// IsZero says whether a is no address.
func (a Address) IsZero() bool { return a.url == "" }

// Class is the row of the routing table that a belongs to.
func (a Address) Class() Class { return a.parts.class() }

// Scheme is the part before "://".
func (a Address) Scheme() string { return a.url[:a.parts.schemeEnd()] }

// Host is the part between "://" and the path, port and user included.
func (a Address) Host() string { return a.url[a.parts.schemeEnd()+3 : a.parts.hostEnd()] }

// Path is empty or begins with a slash.
func (a Address) Path() string { return a.url[a.parts.hostEnd():] }

// Domain is whose Message Node and Domain Registry answer for a: the host without a leading "msg-node." or "registry.",
// and without a user. It is empty for global:// addresses, which belong to whichever domain asks.
func (a Address) Domain() string {
	if a.IsZero() || a.Scheme() == "global" {
		return ""
	}
	host := a.Host()
	if _, after, ok := strings.Cut(host, "@"); ok {
		host = after
	}
	for _, prefix := range [...]string{"msg-node.", "registry."} {
		if rest, ok := strings.CutPrefix(host, prefix); ok && rest != "" {
			return rest
		}
	}
	return host
}

// Entity is a without what comes after the first path segment: the thing that the Domain Registry has an entry of, or
// the runtime that a component belongs to.
func (a Address) Entity() Address {
	if a.parts.entityEnd() == len(a.url) {
		return a
	}
	a.url = a.url[:a.parts.entityEnd()]
	a.parts = a.parts&^0xff | parts(classOf(a.Scheme(), a.Host(), a.Path()))
	return a
}

// IsRuntime says whether a is a runtime URL itself, and not a component of one.
func (a Address) IsRuntime() bool {
	return a.parts.class() == Runtime && a.parts.entityEnd() == len(a.url)
}

// Within says whether a is the entity or runtime b, or lies below it.
//
//go:noinline
func (a Address) Within(b Address) bool { return !a.IsZero() && a.Entity() == b }

// ID is the first path segment.
func (a Address) ID() string {
	return strings.TrimPrefix(a.url[a.parts.hostEnd():a.parts.entityEnd()], "/")
}

// Join is a component or a sub-resource of a. sub has no leading slash.
func (a Address) Join(sub string) Address {
	return build(a.Scheme(), a.Host(), a.Path()+"/"+sub)
}

// Less is the order of the canonical forms, byte by byte. The lower of two runtimes decides for both.
func (a Address) Less(b Address) bool { return a.url < b.url }
