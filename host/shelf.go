package host

import (
	"maps"
	"slices"
)

const shelfLength = 64

// A shelf holds things by numbers that are given one after the other. Most are gone before much newer ones come, so a few arrays do
// where a map would pay for each.
type shelf[T any] struct {
	boards map[uint64]*board[T]
	last   *board[T] // that was looked at
	spare  *board[T] // empty
}

type board[T any] struct {
	number uint64
	count  int
	things [shelfLength]*T
}

func (s *shelf[T]) board(number uint64) *board[T] {
	if s.last == nil || s.last.number != number/shelfLength {
		b := s.boards[number/shelfLength]
		if b == nil {
			return nil
		}
		s.last = b
	}
	return s.last
}

// get gives the thing with that number, or nil.
func (s *shelf[T]) get(number uint64) *T {
	if b := s.board(number); b != nil {
		return b.things[number%shelfLength]
	}
	return nil
}

// put puts a thing in a free place.
func (s *shelf[T]) put(number uint64, thing *T) {
	b := s.board(number)
	if b == nil {
		if b, s.spare = s.spare, nil; b == nil {
			b = &board[T]{}
		}
		b.number = number / shelfLength
		if s.boards == nil {
			s.boards = map[uint64]*board[T]{}
		}
		s.boards[b.number], s.last = b, b
	}
	b.things[number%shelfLength] = thing
	b.count++
}

// drop takes a thing away, if there is one.
func (s *shelf[T]) drop(number uint64) {
	b := s.board(number)
	if b == nil || b.things[number%shelfLength] == nil {
		return
	}
	b.things[number%shelfLength] = nil
	if b.count--; b.count == 0 {
		delete(s.boards, b.number)
		s.last, s.spare = nil, b
	}
}

// all gives everything in the order of the numbers.
func (s *shelf[T]) all() []*T {
	var all []*T
	for _, number := range slices.Sorted(maps.Keys(s.boards)) {
		for _, thing := range s.boards[number].things {
			if thing != nil {
				all = append(all, thing)
			}
		}
	}
	return all
}
