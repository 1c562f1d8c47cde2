package world

// Shrink leaves out of a failing plan whatever it can, first in large pieces, then one action at a time, then messages,
// while fails still says that the plan breaks the promise. It asks at most tries times.
func Shrink(p *Plan, tries int, fails func(*Plan) bool) *Plan {
	best := *p
	try := func(actions []Action) bool {
		if tries <= 0 {
			return false
		}
		tries--
		q := best
		q.Actions = actions
		if !fails(&q) {
			return false
		}
		best = q
		return true
	}
	for size := (len(best.Actions) + 1) / 2; size > 0; size /= 2 {
		for i := 0; i < len(best.Actions); {
			rest := append(append([]Action(nil), best.Actions[:i]...), best.Actions[min(i+size, len(best.Actions)):]...)
			if !try(rest) {
				i += size
			}
		}
	}
	for _, less := range []func(*Action){
		func(a *Action) { a.Count = min(a.Count, 1) },
		func(a *Action) { a.Count /= 2 },
		func(a *Action) { a.Count = max(a.Count-1, 0) },
		func(a *Action) { a.Answer = 0 },
		func(a *Action) { a.Deadline = 0 },
		func(a *Action) { a.Never = false },
		func(a *Action) { a.Mode = 0 },
		func(a *Action) { a.Size = min(a.Size, 2*minContent) },
	} {
		for i := range best.Actions {
			for {
				changed := append([]Action(nil), best.Actions...)
				less(&changed[i])
				if changed[i] == best.Actions[i] || changed[i].Do == Post && (changed[i].Count < 1 || changed[i].Size < 1) || !try(changed) {
					break
				}
			}
		}
	}
	return &best
}
