package driver

import "sync"

// Listeners are who is told what a page says, by name. The zero value is ready.
type Listeners struct {
	lock sync.Mutex
	told map[string]func(payload string)
}

// Listen has fn called with what is told under that name, in the place of who was called before.
func (l *Listeners) Listen(name string, fn func(payload string)) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.told == nil {
		l.told = map[string]func(payload string){}
	}
	l.told[name] = fn
}

// Tell calls who listens under that name, if anybody does.
func (l *Listeners) Tell(name, payload string) {
	l.lock.Lock()
	fn := l.told[name]
	l.lock.Unlock()
	if fn != nil {
		fn(payload)
	}
}
