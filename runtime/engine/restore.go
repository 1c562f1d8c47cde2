package engine

// restored begins a new life from the state of a former one (session.md 3.4).
func (e *Engine) restored(ev *Restored) {
	e.random.Reseed(ev.Seed)
}
