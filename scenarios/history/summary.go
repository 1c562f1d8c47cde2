package history

// Summary counts a history.
type Summary struct {
	Posted, Settled, Rejected int
	Delivered                 int // deliveries, repeated ones included
	Duplicates                int // deliveries of a message that had been delivered before
	OutOfOrder                int // violations of order
	LongestGap                uint64
	Share                     map[string]float64 // of the deliveries, by path
}

// summary counts; the longest gap is the longest time in ms between two deliveries in a row to one end, the first left out.
func (x *index) summary() Summary {
	s := Summary{Share: map[string]float64{}}
	last := map[string]uint64{}
	for _, r := range x.records {
		switch r.Kind {
		case Posted:
			s.Posted++
		case Settled:
			s.Settled++
			if r.Outcome == OutcomeRejected {
				s.Rejected++
			}
		case Delivered:
			s.Delivered++
			s.Share[r.Path]++
			if at, ok := last[r.End]; ok && r.At > at {
				s.LongestGap = max(s.LongestGap, r.At-at)
			}
			last[r.End] = r.At
		}
	}
	for path := range s.Share {
		s.Share[path] /= float64(s.Delivered)
	}
	for _, m := range x.messages {
		s.Duplicates += max(0, len(m.delivered)-1)
	}
	for _, v := range x.bad {
		if v.Rule == OutOfOrder {
			s.OutOfOrder++
		}
	}
	return s
}
