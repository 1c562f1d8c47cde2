package message

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Form says what the body of a content is.
type Form uint8

// The forms of a body.
const (
	Bytes Form = iota
	Text       // UTF-8
	JSON       // one JSON value
)

const (
	formMask     = 3
	flagRequest  = 1 << 2
	flagResponse = 1 << 3
)

// MaxNumber is the largest id and the largest code of a content: the largest QUIC varint.
const MaxNumber = 1<<62 - 1

// A Content is what a session carries as one message, from and to left out.
type Content struct {
	Form     Form
	Request  bool   // an answer with ID is wanted
	Response bool   // answers the request ID with Code
	ID       uint64 // of a request or response
	Code     uint64 // of a response
	Type     Type   // None to Event
	Body     []byte
}

var (
	errContentShort = errors.New("message: content ends too early")
	errContentFlags = errors.New("message: content has unknown flags")
	errContentBoth  = errors.New("message: content is both request and response")
	errContentType  = errors.New("message: type of content is not in 0..10")
	errContentText  = errors.New("message: text body of content is not UTF-8")
	errContentJSON  = errors.New("message: JSON body of content is not JSON")
)

// Append appends c to b. It refuses what ReadContent would refuse, and numbers above MaxNumber; b comes back as it was then.
func (c *Content) Append(b []byte) ([]byte, error) {
	if c.Form > JSON {
		return b, errors.New("message: no form of content has number " + strconv.Itoa(int(c.Form)))
	}
	if c.ID > MaxNumber || c.Code > MaxNumber {
		return b, errors.New("message: id or code of content is above 2^62-1")
	}
	if err := c.check(); err != nil {
		return b, err
	}
	flags := byte(c.Form)
	if c.Request {
		flags |= flagRequest
	}
	if c.Response {
		flags |= flagResponse
	}
	b = append(b, flags, byte(c.Type))
	if c.Request || c.Response {
		b = appendVarint(b, c.ID)
	}
	if c.Response {
		b = appendVarint(b, c.Code)
	}
	return append(b, c.Body...), nil
}

// ReadContent reads one content. Its body shares memory with b, and is proven to be of its form.
func ReadContent(b []byte) (Content, error) {
	if len(b) < 2 {
		return Content{}, errContentShort
	}
	flags := b[0]
	if flags&^(formMask|flagRequest|flagResponse) != 0 || flags&formMask == formMask {
		return Content{}, errContentFlags
	}
	c := Content{
		Form:     Form(flags & formMask),
		Request:  flags&flagRequest != 0,
		Response: flags&flagResponse != 0,
		Type:     Type(b[1]),
	}
	b = b[2:]
	for _, number := range [...]struct {
		wanted bool
		to     *uint64
	}{{c.Request || c.Response, &c.ID}, {c.Response, &c.Code}} {
		if !number.wanted {
			continue
		}
		v, n := varint(b)
		if n == 0 {
			return Content{}, errContentShort
		}
		*number.to, b = v, b[n:]
	}
	c.Body = b
	if err := c.check(); err != nil {
		return Content{}, err
	}
	return c, nil
}

func (c *Content) check() error {
	switch {
	case c.Request && c.Response:
		return errContentBoth
	case c.Type > Event:
		return errContentType
	case c.Form == Text && !utf8.Valid(c.Body):
		return errContentText
	case c.Form == JSON && !Valid(c.Body):
		return errContentJSON
	}
	return nil
}

// appendVarint and varint are QUIC's (RFC 9000 section 16). runtime/frame has them too; neither package may reach the other.
func appendVarint(b []byte, v uint64) []byte {
	switch {
	case v < 1<<6:
		return append(b, byte(v))
	case v < 1<<14:
		return append(b, 0x40|byte(v>>8), byte(v))
	case v < 1<<30:
		return append(b, 0x80|byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
	}
	return append(b, 0xc0|byte(v>>56), byte(v>>48), byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

func varint(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	n = 1 << (b[0] >> 6)
	if len(b) < n {
		return 0, 0
	}
	v = uint64(b[0] & 0x3f)
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	return v, n
}
