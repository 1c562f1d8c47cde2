// Package address holds the addresses that messages are posted to.
//
// An Address is parsed once, at the edge of a program, and is a comparable value from then on: nobody inside splits
// strings. Parse says what is wrong and where. The classes are those of the routing document as the design settles them
// (spec: Routing Address Resolve, steps 4-8 and 25).
package address
