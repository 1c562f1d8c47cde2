// Package host is the native body of a runtime: it holds sockets, data channels, listeners, payloads and the key, and does
// what the machine decides. This is the API for Go programs.
//
//	me, err := host.Connect(ctx, "ws://localhost:8080/ws", host.Options{Name: "alice"})
//	...
//	err = me.Send(ctx, "hyperty://localhost/bob", "hello") // nil: bob's listener has it
//	for message := range me.Messages(ctx) {
//		fmt.Println(message.From, message.Text(), message.Path)
//	}
//
// A message leaves through the Message Node at once; a direct connection to the peer is made behind the traffic, and the
// traffic moves over and back without loss, repeat or reordering.
package host
