// Package order puts things in order. It is not generic on purpose: package slices would be compiled anew for every type of
// element, and cost the module 90 KB.
package order

// Sort sorts n things by exchanging them (heap sort: no recursion, no worst case). Equal ones end in any order, so less should
// tell all apart.
func Sort(n int, less func(i, j int) bool, swap func(i, j int)) {
	if n < 2 {
		return
	}
	sink := func(root, end int) {
		for {
			child := 2*root + 1
			if child >= end {
				return
			}
			if child+1 < end && less(child, child+1) {
				child++
			}
			if !less(root, child) {
				return
			}
			swap(root, child)
			root = child
		}
	}
	for i := n/2 - 1; i >= 0; i-- {
		sink(i, n)
	}
	for end := n - 1; end > 0; end-- {
		swap(0, end)
		sink(0, end)
	}
}
