package session

// Numbers are the timers and limits (session.md 4.6). Times are in milliseconds, sizes in bytes.
type Numbers struct {
	AckDelay     uint64 // an acknowledgement waits at most so long
	AckPause     uint64 // between two that say that a message was taken
	AckStream    uint64 // or that more of a stream was: one costs as much as a lone message
	AckChunks    int    // so many chunks do not wait
	AckBytes     int    // nor so many bytes
	AckTaking    uint64 // but for listeners to take them, at most so long
	MinRTO       uint64 // nothing more seen for so long: send again
	MaxRTO       uint64
	FullPause    uint64 // a node's queue to the peer was full: nothing goes for so long; doubles
	Ping         uint64 // between two PINGs while traffic flows
	Lease        uint64 // trust after the sending time of an answered PING
	Condemn      uint64 // in doubt for so long, and CondemnPings unanswered: held
	CondemnPings int
	MaxHold      uint64 // longest hold-down
	Forgive      uint64 // good for so long: former failures are forgotten
	Abandon      uint64 // held without an answer for so long: given up
	Together     uint64 // two good channels for so long: the older is closed
	Idle         uint64 // after the last chunk no more PINGs
	Answer       uint64 // a data channel may show for so long, or two round trips, that a peer lives whose node does not know it
	LateWake     uint64 // woken so much later than asked: nothing is condemned
	LongAnswer   uint64 // between two LONG frames that only answer
	Forget       uint64 // an idle session that owes nothing is forgotten
	Probe        int    // size of the large PING
	Window       int    // cost of what may be unseen
	Chunk        int    // payload of a chunk of a message that is cut
	Whole        int    // and at most of one that is a whole message: with any header it fits a LargeFrame
	Frame        int    // size of a frame that carries a run of chunks, on a slow carrier
	LargeFrame   int    // and on a fast one
	Turn         int    // bytes given to one carrier in one Step at most; a quarter of it at first
	FirstFlight  int    // cost of what may be on its way on one carrier, before anything is known of it
	LeastFlight  int    // and at least
	MostFlight   int    // and at most: less than a node's queue to a peer holds (docs/protocol.md 4)
	Standing     uint64 // the queue kept on a carrier, in ms of what it moves
	Rebase       uint64 // the way without a queue is measured anew
	Largest      int    // message, Preface left out
	QueueBytes   int
	QueueLength  int
	Flows        int
	Sessions     int
	Channels     int // of one peer
}

// DefaultNumbers are the defaults.
func DefaultNumbers() Numbers {
	return Numbers{
		AckDelay: 20, AckPause: 2, AckStream: 5, AckChunks: 256, AckBytes: 256 << 10, AckTaking: 5,
		MinRTO: 1000, MaxRTO: 8000, FullPause: 50,
		Ping: 700, Lease: 1500, Condemn: 4000, CondemnPings: 3, MaxHold: 60_000, Forgive: 60_000, Abandon: 15_000,
		Together: 10_000, Idle: 3000, Answer: 300, LateWake: 2000, LongAnswer: 100, Forget: 24 * 3600_000,
		Probe: 16 << 10, Window: 1 << 20, Chunk: 16_000, Whole: 60_000, Frame: 16 << 10, LargeFrame: 60 << 10, Turn: 128 << 10,
		FirstFlight: 48 << 10, LeastFlight: 32 << 10, MostFlight: 768 << 10, Standing: 100, Rebase: 10_000, Largest: 16 << 20,
		QueueBytes: 4 << 20, QueueLength: 4096, Flows: 64, Sessions: 10_000, Channels: 2,
	}
}

// Preface is how much a message may have beside the largest value: what stands before the value in its content (docs/protocol.md 6).
const Preface = 32

// chunkCost is what a chunk costs in a window beside its payload.
const chunkCost = 64

// reach is how far a chunk may be ahead of those that came in order.
func (n *Numbers) reach() uint64 { return uint64(n.Window) / chunkCost }
