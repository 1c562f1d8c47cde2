package engine

import (
	"cmp"
	"slices"
	"sync"

	"github.com/hyroute/hyroute/runtime/address"
)

// Memory is the Engine of a node that stands alone. What it holds is gone with the process.
type Memory struct {
	bus   sync.RWMutex
	wants map[address.Address][]Receiver

	store     sync.RWMutex
	limit     int
	entries   map[address.Address]Entry
	byUser    map[string]map[address.Address]struct{}
	byRuntime map[address.Address]map[address.Address]struct{}
}

// NewMemory makes a Memory that takes at most limit entries.
func NewMemory(limit int) *Memory {
	return &Memory{
		wants:     map[address.Address][]Receiver{},
		limit:     limit,
		entries:   map[address.Address]Entry{},
		byUser:    map[string]map[address.Address]struct{}{},
		byRuntime: map[address.Address]map[address.Address]struct{}{},
	}
}

// Subscribe implements Bus.
func (m *Memory) Subscribe(to address.Address, r Receiver) error {
	m.bus.Lock()
	defer m.bus.Unlock()
	if list := m.wants[to]; !slices.Contains(list, r) {
		// Publish may be going over the list: it sees its own length, so appending is safe.
		m.wants[to] = append(list, r)
	}
	return nil
}

// Unsubscribe implements Bus.
func (m *Memory) Unsubscribe(to address.Address, r Receiver) error {
	m.bus.Lock()
	defer m.bus.Unlock()
	list := m.wants[to]
	i := slices.Index(list, r)
	switch {
	case i < 0:
	case len(list) == 1:
		delete(m.wants, to)
	default:
		m.wants[to] = slices.Concat(list[:i], list[i+1:])
	}
	return nil
}

// Publish implements Bus. No lock is held while receivers take the message.
func (m *Memory) Publish(to address.Address, message []byte) (taken int, err error) {
	m.bus.RLock()
	list := m.wants[to]
	m.bus.RUnlock()
	for _, r := range list {
		if r.Receive(message) {
			taken++
		}
	}
	return taken, nil
}

// Read implements Store.
func (m *Memory) Read(url address.Address) (Entry, error) {
	m.store.RLock()
	defer m.store.RUnlock()
	e, ok := m.entries[url]
	if !ok {
		return Entry{}, ErrNotFound
	}
	return e, nil
}

// Change implements Store.
func (m *Memory) Change(url address.Address, change func(current *Entry) (*Entry, error)) error {
	m.store.Lock()
	defer m.store.Unlock()
	old, exists := m.entries[url]
	var current *Entry
	if exists {
		before := old
		current = &before
	}
	next, err := change(current)
	if err != nil {
		return err
	}
	if next != nil && !exists && len(m.entries) >= m.limit {
		return ErrFull
	}
	if exists {
		unlist(m.byUser, old.User, url)
		unlist(m.byRuntime, old.Runtime, url)
		delete(m.entries, url)
	}
	if next != nil {
		m.entries[url] = *next
		list(m.byRuntime, next.Runtime, url)
		if next.User != "" {
			list(m.byUser, next.User, url)
		}
	}
	return nil
}

// Find implements Store.
func (m *Memory) Find(by Query) ([]Entry, error) {
	m.store.RLock()
	defer m.store.RUnlock()
	urls := m.byUser[by.User]
	if !by.Runtime.IsZero() {
		urls = m.byRuntime[by.Runtime]
	}
	found := make([]Entry, 0, len(urls))
	for url := range urls {
		found = append(found, m.entries[url])
	}
	slices.SortFunc(found, func(a, b Entry) int { return cmp.Compare(a.URL.String(), b.URL.String()) })
	return found, nil
}

func list[K comparable](index map[K]map[address.Address]struct{}, key K, url address.Address) {
	if index[key] == nil {
		index[key] = map[address.Address]struct{}{}
	}
	index[key][url] = struct{}{}
}

func unlist[K comparable](index map[K]map[address.Address]struct{}, key K, url address.Address) {
	delete(index[key], url)
	if len(index[key]) == 0 {
		delete(index, key)
	}
}
