// Package store keeps on disk what a runtime must know after its process died: a folder with one file of records, under a
// lock. It knows nothing of what the records say.
//
// The file state is "hyroute1", then records. Each record is its length and the CRC-32C of its payload (u32, big-endian),
// the CRC-32C of these eight bytes, and the payload. The first record is the base, a whole state; each of the others is what
// happened next. A new base is written to a file of its own, synced, and renamed into the place of the old one, so at any
// instant there is one whole base.
package store
