package main

import (
	"errors"
	"strings"

	"github.com/hyroute/hyroute/host"
)

// advice says what a person can do about a failure.
var advice = map[host.Code]string{
	host.NoMessageNode:      "Start a Message Node with `hyroute serve`, or say where one is with --node.",
	host.NotFound:           "Is the address right, and is the other side running? `hyroute listen` prints its address.",
	host.NoListener:         "The other side's program runs, but does not listen at this address.",
	host.NoSuchRuntime:      "The other side was here before, and is not connected now.",
	host.NameTaken:          "Choose another --name, or use the --key of the program that had it first.",
	host.NotStored:          "One runtime at a time can use a --store. One that is damaged has to be moved away: the next run then starts anew.",
	host.Superseded:         "Two programs can not use the same --key at once.",
	host.Expired:            "The other side did not take it. A longer --timeout gives it more time.",
	host.TooBig:             "A message may have 16 MiB.",
	host.BadAddress:         "An address looks like hyperty://localhost/name.",
	host.UnsupportedPayload: "The other side takes text and JSON only.",
	host.NoAnswer:           "The other side has the message, but does not answer.",
}

// explain makes a text for people of an error.
func explain(err error) string {
	var e *host.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Code == host.Refused && e.Err != nil && e.Answer == nil {
		return strings.TrimPrefix(err.Error(), "host: ") + "\nIs --node that of the address? If its name is not its domain, say the domain with --domain."
	}
	text := strings.TrimPrefix(err.Error(), "host: ")
	if hint := advice[e.Code]; hint != "" {
		text += "\n" + hint
	}
	return text
}
