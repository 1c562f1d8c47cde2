// Package world is a small seeded universe in virtual time: machines with bodies, Message Nodes, data channels, and
// everything that goes wrong between them.
//
// A Plan says what happens: who posts what, which socket is cut, which channel freezes, who is killed. Run plays it against
// real machines, which know nothing of it: they get events and their effects are done, as a body in host/ or web/ would.
// After each step the promises that the design makes are checked (promises.go), and in the end, with all faults over and all
// timers run out, nothing may be undecided and the history checker must be content. Equal plans give equal traces.
//
// A plan that breaks a promise shrinks itself (Shrink) and is kept in scenarios/regress, where it runs with all tests from
// then on.
package world
