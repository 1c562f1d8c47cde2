package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxLine is the longest line that Read takes, in bytes.
const MaxLine = 64 << 10

// line is the form of a record in a file. Absent keys are zero.
type line struct {
	At      uint64 `json:"at"`
	End     string `json:"end"`
	Kind    string `json:"kind"`
	Message string `json:"message,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Lane    string `json:"lane,omitempty"`
	Content string `json:"content,omitempty"`
	Path    string `json:"path,omitempty"`
	Session uint64 `json:"session,omitempty"`
	Peer    string `json:"peer,omitempty"`
	Outcome string `json:"outcome,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Maybe   bool   `json:"maybe,omitempty"`
}

// Write writes records as JSON lines.
func Write(w io.Writer, records ...Record) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, r := range records {
		l := line{r.At, r.End, r.Kind.String(), r.Message, r.From, r.To, r.Lane, r.Content, r.Path, r.Session, r.Peer, r.Outcome, r.Reason, r.Maybe}
		if err := e.Encode(l); err != nil {
			return fmt.Errorf("history: write: %w", err)
		}
	}
	return nil
}

// Read reads JSON lines, in which empty lines count for nothing. The error says which line is wrong, and how. A file that
// was cut in its last line (its writer was killed) gives the records before it and io.ErrUnexpectedEOF.
func Read(r io.Reader) ([]Record, error) {
	var records []Record
	s := bufio.NewReaderSize(r, MaxLine)
	for n := 1; ; n++ {
		b, err := s.ReadSlice('\n')
		whole := err == nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return records, fmt.Errorf("history: line %d: longer than %d bytes", n, MaxLine)
		case err != nil && !errors.Is(err, io.EOF):
			return records, fmt.Errorf("history: line %d: %w", n, err)
		}
		if len(b) > 0 && !(len(b) == 1 && whole) {
			rec, err := parse(b)
			if err != nil && !whole {
				return records, fmt.Errorf("history: line %d: %w", n, io.ErrUnexpectedEOF)
			}
			if err != nil {
				return records, fmt.Errorf("history: line %d: %w", n, err)
			}
			records = append(records, rec)
		}
		if !whole {
			return records, nil
		}
	}
}

func parse(b []byte) (Record, error) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil {
		return Record{}, err
	}
	k := slices.Index(kindNames[:], l.Kind)
	if k <= 0 {
		return Record{}, fmt.Errorf("unknown kind %q", l.Kind)
	}
	return Record{l.At, l.End, Kind(k), l.Message, l.From, l.To, l.Lane, l.Content, l.Path, l.Session, l.Peer, l.Outcome, l.Reason, l.Maybe}, nil
}
