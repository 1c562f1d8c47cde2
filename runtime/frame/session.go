package frame

import (
	"encoding/binary"
	"errors"
)

// MaxHeader is the longest header of a session frame, its length field left out.
const MaxHeader = 4096

// MaxContinues is how many earlier incarnations a hello can name.
const MaxContinues = 8

// MaxLane is the longest name of a lane, in bytes.
const MaxLane = 64

const (
	flagVersion = 1 << 6
	flagLong    = 1 << 5
	flagChunk   = 1 << 4
	flagPing    = 1 << 3
	flagPong    = 1 << 2
	flagRun     = 1 << 1
)

// ChunkFlags say what a chunk is.
type ChunkFlags uint8

// The flags of a chunk.
const (
	Begin  ChunkFlags = 1 << 0
	End    ChunkFlags = 1 << 1
	Tomb   ChunkFlags = 1 << 2
	Def    ChunkFlags = 1 << 3
	Refuse ChunkFlags = 1 << 5
)

// HasPayload says whether payload bytes of the frame belong to such a chunk.
func (f ChunkFlags) HasPayload() bool { return f&(Tomb|Def|Refuse) == 0 }

func (f ChunkFlags) valid() bool {
	switch {
	case f&^(Begin|End|Tomb|Def|Refuse) != 0:
		return false
	case f&Def != 0:
		return f == Def
	case f&Refuse != 0:
		return f == Refuse
	}
	return true
}

// Continue says: below Fork my numbers mean what they meant in incarnation Inc.
type Continue struct{ Inc, Fork uint64 }

// Hello says everything about the sender's view (session.md part 2).
type Hello struct {
	Src, Dst, Have uint64
	Base           uint64
	Continues      []Continue
	Set            uint8  // carriers that the session may use: 1 relay, 2 direct
	Lane           string // of the session
	Window         uint64
	Largest        uint64
	Features       uint64
}

// Chunk is the description of one number.
type Chunk struct {
	Flags    ChunkFlags
	Flow     uint64 // DEF and BEGIN
	From, To string // DEF, not parsed
	Inc      uint64 // REFUSE: incarnation of the receiver's stream
	Number   uint64 // REFUSE: the end of the refused message in that stream
	Code     uint8  // REFUSE
	Length   int    // payload bytes
}

// Header is all of a session frame but its payload.
type Header struct {
	Long       bool
	Tag        uint32 // short frames
	Hello      Hello  // long frames
	Done, Seen uint64
	Ping, Pong uint32 // 0: none
	First      uint64 // number of the first chunk
	Chunks     []Chunk
}

// Tag ties a short frame to one pair of lives: FNV-1a-32 over (source inc, destination inc).
func Tag(src, dst uint64) uint32 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], src)
	binary.BigEndian.PutUint64(b[8:], dst)
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c)) * 16777619
	}
	return h
}

// Append appends h with its length field in front. Chunks with payload must have their Length set; the payload follows in
// their order. A header that Read would refuse for its size or for its numbers is an error, and b comes back as it was.
func (h *Header) Append(b []byte) ([]byte, error) {
	if !h.inRange() {
		return b, errNumber
	}
	start := len(b)
	b = h.appendBody(append(b, 0))
	size := len(b) - start - 1
	switch {
	case size > MaxHeader:
		return b[:start], errors.New("frame: header too long")
	case size < 1<<6:
		b[start] = byte(size)
	default: // its length takes two bytes
		b = append(b, 0)
		copy(b[start+2:], b[start+1:])
		AppendVarint(b[:start], uint64(size))
	}
	return b, nil
}

// inRange says whether Read takes the numbers of h.
func (h *Header) inRange() bool {
	last := h.First + uint64(len(h.Chunks))
	switch {
	case h.Seen < h.Done || h.Seen > MaxVarint:
		return false
	case len(h.Chunks) > 0 && (h.First == 0 || h.First > MaxVarint || last > MaxVarint):
		return false
	case h.Long && !h.Hello.inRange():
		return false
	}
	for i := range h.Chunks {
		c := &h.Chunks[i]
		if !c.Flags.valid() || c.Flow > MaxVarint || c.Number > MaxVarint || c.Length < 0 || !c.Flags.HasPayload() && c.Length > 0 {
			return false
		}
	}
	return true
}

func (h *Hello) inRange() bool {
	for _, c := range h.Continues {
		if c.Fork > MaxVarint {
			return false
		}
	}
	return h.Src != 0 && h.Base <= MaxVarint && len(h.Continues) <= MaxContinues && h.Set >= 1 && h.Set <= 3 &&
		len(h.Lane) <= MaxLane && h.Window <= MaxVarint && h.Largest <= MaxVarint && h.Features <= MaxVarint
}

func (h *Header) appendBody(b []byte) []byte {
	flags := byte(flagVersion)
	if h.Long {
		flags |= flagLong
	}
	if len(h.Chunks) > 0 {
		flags |= flagChunk
	}
	if len(h.Chunks) > 1 {
		flags |= flagRun
	}
	if h.Ping != 0 {
		flags |= flagPing
	}
	if h.Pong != 0 {
		flags |= flagPong
	}
	b = append(b, flags)
	if h.Long {
		b = h.Hello.append(b)
	} else {
		b = binary.BigEndian.AppendUint32(b, h.Tag)
	}
	b = AppendVarint(AppendVarint(b, h.Done), h.Seen-h.Done)
	if h.Ping != 0 {
		b = binary.BigEndian.AppendUint32(b, h.Ping)
	}
	if h.Pong != 0 {
		b = binary.BigEndian.AppendUint32(b, h.Pong)
	}
	if len(h.Chunks) == 0 {
		return b
	}
	b = AppendVarint(b, h.First)
	run := len(h.Chunks) > 1
	if run {
		b = AppendVarint(b, uint64(len(h.Chunks)))
	}
	for i := range h.Chunks {
		b = h.Chunks[i].append(b, run)
	}
	return b
}

func (h *Hello) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.Src)
	b = binary.BigEndian.AppendUint64(b, h.Dst)
	b = binary.BigEndian.AppendUint64(b, h.Have)
	b = AppendVarint(b, h.Base)
	b = append(b, byte(len(h.Continues)))
	for _, c := range h.Continues {
		b = binary.BigEndian.AppendUint64(b, c.Inc)
		b = AppendVarint(b, c.Fork)
	}
	b = appendString(append(b, h.Set), h.Lane)
	b = AppendVarint(b, h.Window)
	b = AppendVarint(b, h.Largest)
	return AppendVarint(b, h.Features)
}

func appendString(b []byte, s string) []byte {
	return append(AppendVarint(b, uint64(len(s))), s...)
}

func stringSize(s string) int { return varintSize(uint64(len(s))) + len(s) }

func (c *Chunk) append(b []byte, run bool) []byte {
	b = append(b, byte(c.Flags))
	if c.Flags&Def != 0 {
		b = AppendVarint(b, c.Flow)
		b = appendString(b, c.From)
		b = appendString(b, c.To)
	}
	if c.Flags&Refuse != 0 {
		b = binary.BigEndian.AppendUint64(b, c.Inc)
		b = append(AppendVarint(b, c.Number), c.Code)
	}
	if c.Flags&Begin != 0 {
		b = AppendVarint(b, c.Flow)
	}
	if run && c.Flags.HasPayload() {
		b = AppendVarint(b, uint64(c.Length))
	}
	return b
}

// HeadSize is how many bytes at the start of a session frame are its header, the length field included. It is 0 if the frame
// is shorter than it says, or says that its header is too long.
func HeadSize(f []byte) int {
	size, n := Varint(f)
	if n == 0 || size == 0 || size > MaxHeader || size > uint64(len(f)-n) {
		return 0
	}
	return n + int(size)
}

// Size is how many bytes Append takes for a chunk in a run.
func (c *Chunk) Size() int {
	n := 1
	if c.Flags&Def != 0 {
		n += varintSize(c.Flow) + stringSize(c.From) + stringSize(c.To)
	}
	if c.Flags&Refuse != 0 {
		n += 8 + varintSize(c.Number) + 1
	}
	if c.Flags&Begin != 0 {
		n += varintSize(c.Flow)
	}
	if c.Flags.HasPayload() {
		n += varintSize(uint64(c.Length))
	}
	return n
}
