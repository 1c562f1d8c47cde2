package session

// allowance is what a carrier may be given in one Step. It grows while the carrier takes all of it, and is halved when the
// carrier says that it is blocked: what a slow path has to write must not be so much that a probe behind it comes too late.
type allowance struct {
	step  uint64
	bytes int // given in that Step
	turn  int // may be given in a Step; 0: as at the start
}

// left says whether the carrier may be given more in this Step.
func (a *allowance) left(t *Table) bool {
	a.begin(t)
	return a.bytes < a.limit(t)
}

func (a *allowance) begin(t *Table) {
	if a.step != t.step {
		a.step, a.bytes = t.step, 0
	}
}

func (a *allowance) limit(t *Table) int {
	if a.turn == 0 {
		return t.numbers.Turn / 4
	}
	return a.turn
}

// spend notes that n bytes were given, and says whether they were the last ones of this Step.
func (a *allowance) spend(t *Table, n int) (last bool) {
	a.begin(t)
	before, limit := a.bytes, a.limit(t)
	a.bytes += n
	if before >= limit || a.bytes < limit {
		return false
	}
	a.turn = min(limit+t.numbers.Frame/4, t.numbers.Turn)
	a.bytes = max(a.bytes, a.turn)
	return true
}

func (a *allowance) blocked(t *Table) { a.turn = max(a.limit(t)/2, t.numbers.Frame) }

// allowance is what the carrier may be given in one Step. All peers behind a relay have one together.
func (c *carrier) allowance() *allowance {
	if c.relay != nil {
		return &c.relay.given
	}
	return &c.given
}

// spent notes that n bytes were given to the carrier. When that is all it gets in a Step, the peer's turn comes again in the next
// one, so that the body can say in between that the carrier is blocked.
func (c *carrier) spent(t *Table, n int) {
	if c.allowance().spend(t, n) {
		t.park(c.peer)
	}
}

// frameSize is how large a frame may be: half of what may be given in a Step, and of what may be on its way, so that on a slow path
// little stands before a probe.
func (c *carrier) frameSize(t *Table) int {
	half := min(c.allowance().limit(t), c.flight.most(t)) / 2
	return min(max(half, t.numbers.Frame), t.numbers.LargeFrame)
}
