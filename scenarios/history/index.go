package history

import (
	"slices"
	"strings"
)

// stream is what order is promised for.
type stream struct{ from, to, lane string }

func (s stream) compare(o stream) int {
	if c := strings.Compare(s.from, o.from); c != 0 {
		return c
	}
	if c := strings.Compare(s.to, o.to); c != 0 {
		return c
	}
	return strings.Compare(s.lane, o.lane)
}

// life is one stretch of memory of one end.
type life struct {
	end    string
	number int
}

func (l life) compare(o life) int {
	if c := strings.Compare(l.end, o.end); c != 0 {
		return c
	}
	return l.number - o.number
}

// message is all that the history says of one message. Numbers are indexes of records, -1 for none.
type message struct {
	name      string
	posted    int
	by        life
	stream    stream
	place     int // in the stream, counted within the life that posted it
	settled   []int
	delivered []delivery
	refused   []int
}

type delivery struct {
	at      int
	life    life
	dropped bool // and not handed over again: it does not count
}

// index is the history sorted by what the rules ask for.
type index struct {
	records  []Record
	at       []life // of each record
	messages map[string]*message
	names    []string         // in order of first mention
	posts    map[life]posts   // what each life posted, by stream
	lives    map[string]int   // how often each end started without memory, its first life not counted
	ends     []string         // in order of first mention
	gaps     map[string][]int // by the end that was told
	resets   map[string][]int // by the end that was told
	takes    map[life]map[stream][]*taken
	bad      []Violation
}

type posts map[stream][]*message

// taken is a delivery as its receiver saw it.
type taken struct {
	at      int
	message *message
}

func newIndex(records []Record) *index {
	x := &index{
		records:  records,
		messages: map[string]*message{},
		posts:    map[life]posts{},
		lives:    map[string]int{},
		gaps:     map[string][]int{},
		resets:   map[string][]int{},
		takes:    map[life]map[stream][]*taken{},
	}
	// The posts first: where logs of several ends were put one behind the other, a delivery may stand before its post.
	busy := map[string]bool{}
	x.at = make([]life, len(records))
	for i, r := range records {
		if !slices.Contains(x.ends, r.End) {
			x.ends = append(x.ends, r.End)
		}
		if r.Kind == Started && busy[r.End] {
			x.lives[r.End]++
		}
		busy[r.End] = true
		x.at[i] = life{r.End, x.lives[r.End]}
		if r.Kind == Posted {
			x.post(i, r, x.at[i])
		}
	}
	for i, r := range records {
		x.add(i, r, x.at[i])
	}
	x.leaveOutDropped()
	return x
}

func (x *index) add(i int, r Record, at life) {
	switch r.Kind {
	case Started, Posted:
	case Settled:
		m := x.message(r.Message)
		m.settled = append(m.settled, i)
	case Delivered:
		m := x.message(r.Message)
		if m.handedAgain(at) {
			return
		}
		m.delivered = append(m.delivered, delivery{at: i, life: at})
		s := stream{r.From, r.To, ""}
		if m.posted >= 0 {
			s = m.stream
		}
		if x.takes[at] == nil {
			x.takes[at] = map[stream][]*taken{}
		}
		x.takes[at][s] = append(x.takes[at][s], &taken{i, m})
	case Refused:
		m := x.message(r.Message)
		m.refused = append(m.refused, i)
	case Dropped:
		x.message(r.Message).drop(at)
	case Reset:
		x.resets[r.End] = append(x.resets[r.End], i)
	case Gap:
		x.gaps[r.End] = append(x.gaps[r.End], i)
	default:
		x.blame(Malformed, i, "a record of no known kind")
	}
}

// drop notes that the life ended before a listener took m.
func (m *message) drop(at life) {
	for i := range m.delivered {
		if m.delivered[i].life == at {
			m.delivered[i].dropped = true
		}
	}
}

// handedAgain says whether m is handed over again because the former life of its receiver did not take it: it keeps its place.
func (m *message) handedAgain(at life) bool {
	for i := range m.delivered {
		if d := &m.delivered[i]; d.dropped && d.life == at {
			d.dropped = false
			return true
		}
	}
	return false
}

// leaveOutDropped forgets deliveries that were dropped for good.
func (x *index) leaveOutDropped() {
	gone := map[int]bool{}
	for _, m := range x.messages {
		m.delivered = slices.DeleteFunc(m.delivered, func(d delivery) bool {
			gone[d.at] = gone[d.at] || d.dropped
			return d.dropped
		})
	}
	for _, streams := range x.takes {
		for s, ts := range streams {
			streams[s] = slices.DeleteFunc(ts, func(t *taken) bool { return gone[t.at] })
		}
	}
}

func (x *index) post(i int, r Record, at life) {
	m := x.message(r.Message)
	if m.posted >= 0 {
		x.blame(Malformed, i, "two messages have this name")
		return
	}
	m.posted, m.by, m.stream = i, at, stream{r.From, r.To, r.Lane}
	if x.posts[at] == nil {
		x.posts[at] = posts{}
	}
	m.place = len(x.posts[at][m.stream])
	x.posts[at][m.stream] = append(x.posts[at][m.stream], m)
}

func (x *index) message(name string) *message {
	m := x.messages[name]
	if m == nil {
		m = &message{name: name, posted: -1}
		x.messages[name] = m
		x.names = append(x.names, name)
	}
	return m
}

func (x *index) blame(rule Rule, at int, text string) {
	r := x.records[at]
	x.bad = append(x.bad, Violation{Rule: rule, Record: at, End: r.End, Message: r.Message, Text: text})
}

// outcome is the first settlement of m, if there is one.
func (x *index) outcome(m *message) (Record, bool) {
	if len(m.settled) == 0 {
		return Record{}, false
	}
	return x.records[m.settled[0]], true
}

// told says whether the end of log was told by a record of list, about peer, strictly between two of its records. A
// session number counts only where both records have one.
func (x *index) told(list []int, peer string, session uint64, after, before int) bool {
	for _, i := range list {
		r := x.records[i]
		if i > after && i < before && (r.Peer == "" || r.Peer == peer) && (session == 0 || r.Session == 0 || r.Session == session) {
			return true
		}
	}
	return false
}
