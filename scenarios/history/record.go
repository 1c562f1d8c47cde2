package history

// Kind is what an end logged.
type Kind uint8

// The kinds of records.
const (
	Started   Kind = iota + 1 // this end starts with no memory of what it did before
	Posted                    // the application posted Message to To
	Settled                   // the application was told what became of Message
	Delivered                 // a listener was handed Message
	Refused                   // a listener was handed Message and did not take it
	Reset                     // the application was told: my stream to Peer started over
	Gap                       // the application was told: the stream of Peer started over
	Dropped                   // the life of this end ended while a listener had Message in hand and had not taken it
)

var kindNames = [...]string{"", "started", "posted", "settled", "delivered", "refused", "reset", "gap", "dropped"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Outcomes of a settled message.
const (
	OutcomeDelivered = "delivered"
	OutcomeTaken     = "taken" // given to a node that does not say more: neither order nor arrival is promised
	OutcomeRejected  = "rejected"
)

// Record is one thing that one end saw. The order of the records of one End is the order in which that end saw them; the
// order between ends means something only under Options.OneClock.
type Record struct {
	At      uint64 // ms; compared only within one end, and over all ends for the summary of one clock
	End     string // whose log: the runtime URL
	Kind    Kind
	Message string // posted, settled, delivered, refused, dropped: a name that no other message of the history has
	From    string // posted, delivered, refused
	To      string // posted, delivered, refused
	Lane    string // posted: order is promised per (From, To, Lane)
	Content string // posted, delivered: a digest of the content; compared where both have one
	Path    string // delivered: local, relay, direct
	Session uint64 // delivered, gap, reset: the end's number of the session; 0: not known
	Peer    string // reset, gap: the runtime at the other end; empty: not known
	Outcome string // settled
	Reason  string // settled as rejected
	Maybe   bool   // settled as rejected: it may have been delivered all the same
}
