package session

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hyroute/hyroute/runtime/address"
	"github.com/hyroute/hyroute/scenarios/history"
)

// newTimed is a timed world with a relay and nothing posted.
func newTimed() *timed {
	m := &timed{r: rand.New(rand.NewPCG(1, 7)), now: 1, frames: map[uint64]int{}}
	m.links = []*timedLink{{stub: modelRelay, latency: 40, jitter: 10, open: true, pass: [2]bool{true, true}, drop: true}}
	for i := range m.ends {
		m.ends[i] = newModelEnd(m, i)
	}
	for _, e := range m.ends {
		e.relayOpened()
	}
	return m
}

// runUntil plays the world up to a time.
func (m *timed) runUntil(end uint64) {
	for len(m.plan) > 0 && m.err == "" && m.plan[0].at <= end {
		e := heap.Pop(&m.plan).(timedEvent)
		m.now = e.at
		e.do()
	}
	m.now = end
}

// chat posts a short message each so many ms in the default lane, up to a time.
func (m *timed) chat(from int, every, end uint64) {
	var post func()
	post = func() {
		m.ends[from].post(200, 120_000, "", 0)
		m.arm(m.ends[from])
		if m.now < end {
			m.after(every, post)
		}
	}
	post()
}

// latencies are the times, in ms, from posting to handing over of the messages of a lane, sorted.
func (m *timed) latencies(lane string) []uint64 {
	posted := map[string]uint64{}
	var all []uint64
	for _, r := range m.records {
		switch {
		case r.Kind == history.Posted && r.Lane == lane:
			posted[r.Message] = r.At
		case r.Kind == history.Delivered:
			if at, ok := posted[r.Message]; ok {
				all = append(all, r.At-at)
			}
		}
	}
	slices.Sort(all)
	return all
}

func (m *timed) check(t *testing.T) {
	t.Helper()
	if m.err != "" {
		t.Fatal(m.err)
	}
	if err := history.Check(m.records, history.Options{OneClock: true, Refusals: true}).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestChatBesideAFile sends 16 MiB in a lane of its own beside 20 short messages a second, on links of several speeds with
// queues that never end. The chat must not notice, and the file must have the rest of the link.
func TestChatBesideAFile(t *testing.T) {
	for _, c := range []struct {
		name    string
		rate    uint64 // bytes a ms
		size    int
		direct  bool
		latency uint64 // of the channel
	}{
		{"1 Mbit/s by the relay", 125, 16 << 20, false, 0},
		{"1 Mbit/s by a channel", 125, 16 << 20, true, 20},
		{"1 Mbit/s by a channel round the world", 125, 16 << 20, true, 150},
		{"10 Mbit/s by a channel", 1250, 16 << 20, true, 20},
		{"100 Mbit/s by a channel", 12_500, 16 << 20, true, 20},
		{"1 Gbit/s by a channel", 125_000, 16 << 20, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newTimed()
			k := m.links[0]
			if c.direct {
				k = m.addChannel(c.latency, 5)
				m.runUntil(2000)
			}
			line := &timedLine{rate: c.rate}
			m.links[0].line, k.line = line, line // it is the way out, whichever carrier is taken
			m.ends[0].post(c.size, 600_000, "files", 0)
			m.arm(m.ends[0])
			least := uint64(c.size) / c.rate
			m.chat(0, 50, m.now+least)
			m.runUntil(m.now + 3*least + 10_000)
			m.check(t)
			file, chat := m.latencies("files"), m.latencies("")
			if len(file) != 1 || uint64(len(chat)) < least/50 {
				t.Fatalf("%d files and %d chats arrived", len(file), len(chat))
			}
			p99 := chat[len(chat)*99/100]
			t.Logf("file %d ms (the line alone %d), chat median %d, p99 %d, worst %d ms", file[0], least, chat[len(chat)/2], p99, chat[len(chat)-1])
			if p99 >= 500+c.latency {
				t.Errorf("p99 of the chat is %d ms", p99)
			}
			if file[0] > least+least/2+2*c.latency+500 {
				t.Errorf("the file took %d ms, the line alone %d", file[0], least)
			}
		})
	}
}

// TestLanesTakeTurns lets bulk lanes and peers share one relay that takes little in a Step: none waits for another to end.
func TestLanesTakeTurns(t *testing.T) {
	m := newTimed()
	m.links[0].line = &timedLine{rate: 125}
	for _, lane := range []string{"a", "b", "c", "d"} {
		m.ends[0].post(1<<20, 600_000, lane, 0)
	}
	m.arm(m.ends[0])
	m.runUntil(60_000)
	m.check(t)
	var ends []uint64
	for _, lane := range []string{"a", "b", "c", "d"} {
		got := m.latencies(lane)
		if len(got) != 1 {
			t.Fatalf("%d messages of lane %s arrived", len(got), lane)
		}
		ends = append(ends, got[0])
	}
	slices.Sort(ends)
	if ends[3]-ends[0] > 2000 {
		t.Errorf("four alike were done after %v ms", ends)
	}
}

// TestPeersShareARelay posts much to one peer and then little to another: what a Step has left out for the one must go on for
// the other.
func TestPeersShareARelay(t *testing.T) {
	m := newTimed()
	table := m.ends[0].table
	other := address.MustParse("runtime://d/other")
	table.Advance(m.now)
	for i := range 40 {
		table.Post(m.ends[0].peer, Key{Set: Relay}, modelRelay, Message{
			Msg: uint64(i + 1), From: address.MustParse("hyperty://d/x"), To: address.MustParse("hyperty://d/y"), Size: 100_000, Deadline: 30_000,
		})
	}
	table.Post(other, Key{Set: Relay}, modelRelay, Message{
		Msg: 100, From: address.MustParse("hyperty://d/x"), To: address.MustParse("hyperty://d/z"), Size: 100, Deadline: 30_000,
	})
	table.Flush()
	for range 3 {
		for _, a := range table.Actions() {
			if x, ok := a.(*Transmit); ok && len(x.Parts) > 0 && x.Parts[0].Msg == 100 {
				return
			}
		}
		table.Advance(m.now)
		table.Flush()
	}
	t.Error("the second peer gets nothing while there is something for the first")
}
