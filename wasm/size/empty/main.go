// Command empty is the smallest module that Go makes: what hyroute.wasm is measured against.
package main

func main() { println() }
