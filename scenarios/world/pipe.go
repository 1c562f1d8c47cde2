package world

// Write marks of a carrier (session.md, addition 5): the high mark is what it moved in the last 250 ms, between these two;
// the low mark is a quarter of it.
const (
	lowestMark  = 64 << 10
	highestMark = 1 << 20
	markSpan    = 250
)

// pipe is one direction of a carrier. It keeps order and loses nothing while it lives; it may be slow, and it may stand
// still and later go on (a zombie thaws). What is in it when it is cut is gone.
type pipe struct {
	w      *World
	delay  uint64
	jitter int
	rate   int // bytes a ms, 0: as fast as asked
	chance *chance

	cut     bool
	stopped bool
	waiting []packet // not yet on the line
	queued  int      // bytes in waiting
	sending bool
	last    uint64 // when the newest packet on the line arrives
	line    []packet
	turn    int // counts thaws: arrivals planned before one are void
	moved   []moved
	blocked bool
	onMark  func(blocked bool) // nil: nobody asks
}

type packet struct {
	size int
	do   func()
}

type moved struct {
	at   uint64
	size int
}

func (w *World) newPipe(name string, delay uint64, jitter int) *pipe {
	return &pipe{w: w, delay: delay, jitter: jitter, chance: newChance(w.plan.Seed, name)}
}

// send puts a packet into the pipe; do happens at its other end.
func (p *pipe) send(size int, do func()) {
	if p.cut {
		return
	}
	p.waiting = append(p.waiting, packet{size, do})
	p.queued += size
	p.pump()
	p.mark()
}

// pump moves what may leave now onto the line.
func (p *pipe) pump() {
	for len(p.waiting) > 0 && !p.stopped && !p.sending && !p.cut {
		k := p.waiting[0]
		if p.rate > 0 {
			p.sending = true
			p.w.after(uint64(max(1, (k.size+p.rate-1)/p.rate)), func() {
				p.sending = false
				if !p.cut && !p.stopped {
					p.launch()
				}
				p.pump()
				p.mark()
			})
			return
		}
		p.launch()
	}
}

func (p *pipe) launch() {
	k := p.waiting[0]
	p.waiting = p.waiting[1:]
	p.queued -= k.size
	p.moved = append(p.moved, moved{p.w.now, k.size})
	at := p.w.now + p.delay
	if p.jitter > 0 {
		at += uint64(p.chance.below(p.jitter))
	}
	at = max(at, p.last)
	p.last = at
	p.line = append(p.line, k)
	p.expect(at)
}

func (p *pipe) expect(at uint64) {
	turn := p.turn
	p.w.at(at, func() {
		if turn == p.turn {
			p.arrive()
		}
	})
}

// arrive takes the oldest packet from the line; where the pipe stands still it stays there until it thaws.
func (p *pipe) arrive() {
	if p.cut || p.stopped || len(p.line) == 0 {
		return
	}
	k := p.line[0]
	p.line = p.line[1:]
	k.do()
}

// stop makes the pipe stand still; what is in it stays in it.
func (p *pipe) stop() { p.stopped = true }

// thaw lets it go on: what was on the line arrives first.
func (p *pipe) thaw() {
	if !p.stopped || p.cut {
		return
	}
	p.stopped = false
	p.turn++
	p.last = max(p.last, p.w.now+p.delay)
	for range p.line {
		p.expect(p.last)
	}
	p.pump()
	p.mark()
}

// limit changes how fast the pipe is.
func (p *pipe) limit(rate int) {
	p.rate = rate
	p.pump()
	p.mark()
}

// close cuts the pipe: all that is in it is gone.
func (p *pipe) close() {
	p.cut = true
	p.waiting, p.line, p.queued = nil, nil, 0
}

// mark tells when the pipe is too full and when it is not any more.
func (p *pipe) mark() {
	for len(p.moved) > 0 && p.moved[0].at+markSpan < p.w.now {
		p.moved = p.moved[1:]
	}
	high := 0
	for _, m := range p.moved {
		high += m.size
	}
	high = min(max(high, lowestMark), highestMark)
	switch {
	case p.onMark == nil || p.cut:
	case !p.blocked && p.queued > high:
		p.blocked = true
		p.onMark(true)
	case p.blocked && p.queued <= high/4:
		p.blocked = false
		p.onMark(false)
	}
}
