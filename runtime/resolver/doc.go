// Package resolver decides where a message goes next: the routing document's 25 steps as one table (route.go), over what is
// known of listeners, of Domain Registry entries, of Message Node stubs and of peer stubs.
//
// It asks nobody and waits for nothing: when something has to be found out first, the decision says what.
package resolver
