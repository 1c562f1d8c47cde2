package host

import (
	"sync"

	"github.com/hyroute/hyroute/runtime/address"
)

// tick is that of the clock in incarnations (session.md 3.1), in ms.
const tick = 16

// lives knows when the runtimes of this program ended. Peers order the lives of a runtime by a clock that ticks slowly: one that begins in
// the tick in which the former one ended could be taken for the older of the two, and what it sends first would be in doubt.
type lives struct {
	lock  sync.Mutex
	ended map[address.Address]uint64 // ms since 1970
}

var formerLives = lives{ended: map[address.Address]uint64{}}

// end notes that the runtime ended.
func (l *lives) end(url address.Address, wall uint64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for u, at := range l.ended {
		if at+2*tick < wall {
			delete(l.ended, u)
		}
	}
	l.ended[url] = max(wall, l.ended[url])
}

// begin is the time that a life of the runtime begins with: that, or a later one.
func (l *lives) begin(url address.Address, wall uint64) uint64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	if at, ok := l.ended[url]; ok {
		wall = max(wall, at+2*tick)
	}
	return wall
}
