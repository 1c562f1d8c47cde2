// Package soak runs many runtimes in one process for a long time, through one real Message Node and real peer connections,
// and breaks whatever can break, at random: peer connections are closed, sockets die or stand still, runtimes are closed or
// cut off and start again, every other one with nothing in its memory, the others with a store from which they go on.
//
// Time goes in rounds. A round is faults under traffic, then a rest in which everything has to settle; then the history of
// the round is judged, and what the process uses is measured. What grows from round to round leaks.
package soak
