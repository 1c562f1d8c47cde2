// Package history judges what happened between runtimes by nothing but what their two ends logged: which messages were
// posted and how they settled, which were handed to listeners, and when an end was told of a session-reset or a gap.
//
// It knows no protocol, no frame and no timer, so it can not share a mistake with the code it judges. The simulator, the
// end-to-end cases, the soak runs and the benchmarks all write the same records (Record, or one JSON object a line) and
// ask Check. The promise that it holds them to is that of session.md: in order per (from, to, lane), exactly once while
// both sides live, otherwise an explicit session-reset or gap, and messages in doubt rejected as maybe.
package history
