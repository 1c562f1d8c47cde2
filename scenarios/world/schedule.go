package world

import "container/heap"

// schedule is what happens when: by time, and at one time in the order in which it was planned.
type schedule struct {
	items  entries
	number uint64
}

type entry struct {
	at, number uint64
	do         func()
}

type entries []entry

func (e entries) Len() int { return len(e) }
func (e entries) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].number < e[j].number
}
func (e entries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *entries) Push(x any)   { *e = append(*e, x.(entry)) }
func (e *entries) Pop() any {
	old := *e
	x := old[len(old)-1]
	old[len(old)-1] = entry{}
	*e = old[:len(old)-1]
	return x
}

func (s *schedule) add(at uint64, do func()) {
	s.number++
	heap.Push(&s.items, entry{at, s.number, do})
}

// due says whether anything is planned up to a time.
func (s *schedule) due(until uint64) bool { return len(s.items) > 0 && s.items[0].at <= until }

// next takes out what comes first. There must be something.
func (s *schedule) next() entry { return heap.Pop(&s.items).(entry) }
