// Package exports is the table of the module's exports: pointers and numbers for ABI.md, and nothing else. What they do
// stands in package door. On other platforms than wasip1 the package is empty.
package exports
