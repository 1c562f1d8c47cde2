package resolver

// Numbers are the lifetimes and limits of what is known. Times are in milliseconds.
type Numbers struct {
	Found   uint64 // an entry that was found is believed for so long
	Absent  uint64 // that there is none, for so long
	Silent  uint64 // that the registry does not answer, or the entry is disconnected
	Entries int
}

// DefaultNumbers are the defaults.
func DefaultNumbers() Numbers {
	return Numbers{Found: 5 * 60_000, Absent: 2000, Silent: 5000, Entries: 10_000}
}
