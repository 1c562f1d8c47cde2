package world

// chance is a source of random numbers for one purpose. Each purpose has its own, made from the seed and a name, so that
// leaving out one action of a plan does not change what becomes of the others.
type chance struct{ state uint64 }

func newChance(seed uint64, name string) *chance {
	h := uint64(14695981039346656037)
	for i := 0; i < len(name); i++ {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	c := &chance{seed ^ h}
	c.next()
	return c
}

// next is SplitMix64.
func (c *chance) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number in [0, n).
func (c *chance) below(n int) int { return int(c.next() % uint64(max(n, 1))) }

// between is a number in [low, high].
func (c *chance) between(low, high int) int { return low + c.below(high-low+1) }

// percent is true p times in a hundred.
func (c *chance) percent(p int) bool { return c.below(100) < p }

// pick is one of the items.
func pick[T any](c *chance, items ...T) T { return items[c.below(len(items))] }
