// Package engine is the machine: resolver and sessions behind one Step. Events go in, effects come out; it has no clock, no
// randomness of its own, no goroutine and does no I/O, so that equal events give equal effects on every body.
//
// What it promises, each with a test of that name: every posted message is settled exactly once; every wait has a deadline that
// Wake covers; no event makes Step fail or panic; same in, same out; tables, queues and buffers are bounded and say so when
// full; a back-end address never causes a registry query; what arrived by a stub is delivered or refused, never forwarded on.
package engine
