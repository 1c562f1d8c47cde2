//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// subject is one way for two ends to talk.
type subject struct {
	name    string
	title   string
	script  string         // of its pages, in page/subjects; empty: its ends are native processes
	server  string         // what stands between the ends: a key of servers
	options map[string]any // for the script
	bare    string         // the bare subject that it is set in relation to
	direct  bool           // its messages go on a peer connection, at least in the end
	outside bool           // its libraries are not ours: they must be installed
}

var relayOnly, direct = map[string]any{"direct": false}, map[string]any{"direct": true}

var subjects = []subject{
	{name: "ws", title: "bare WebSocket relay", script: "websocket", server: "relay", bare: "ws"},
	{name: "hyroute-relay", title: "hyroute by the relay", script: "hyroute", server: "hyroute", options: relayOnly, bare: "ws"},
	{name: "dc", title: "bare data channel", script: "channel", server: "relay", bare: "dc", direct: true},
	{name: "hyroute-direct", title: "hyroute direct", script: "hyroute", server: "hyroute", options: direct, bare: "dc", direct: true},
	{name: "peerjs", title: "PeerJS", script: "peerjs", server: "peerjs", bare: "dc", direct: true, outside: true},
	{name: "peerjs-raw", title: "PeerJS, raw", script: "peerjs", server: "peerjs", options: map[string]any{"serialization": "raw"}, bare: "dc", direct: true, outside: true},
	{name: "libp2p", title: "js-libp2p", script: "libp2p", server: "libp2p", bare: "dc", direct: true, outside: true},
	{name: "trystero", title: "Trystero", script: "trystero", server: "nostr", bare: "dc", direct: true, outside: true},
	{name: "socketio", title: "Socket.IO", script: "socketio", server: "socketio", bare: "ws", outside: true},
	{name: "socketio-ws", title: "Socket.IO, WebSocket only", script: "socketio", server: "socketio", options: map[string]any{"transports": []string{"websocket"}}, bare: "ws", outside: true},
	{name: "nats", title: "NATS", script: "nats", server: "nats", bare: "ws", outside: true},
	{name: "mqtt-qos0", title: "MQTT.js, QoS 0", script: "mqtt", server: "mqtt", options: map[string]any{"qos": 0}, bare: "ws", outside: true},
	{name: "mqtt-qos1", title: "MQTT.js, QoS 1", script: "mqtt", server: "mqtt", options: map[string]any{"qos": 1}, bare: "ws", outside: true},
	{name: "pion", title: "bare data channel, pion", server: "relay", bare: "pion", direct: true},
	{name: "hyroute-pion", title: "hyroute direct, pion", server: "hyroute", bare: "pion", direct: true},
}

// groups are names for several subjects.
var groups = map[string]func(subject) bool{
	"paths":  func(s subject) bool { return !s.outside && s.script != "" },
	"native": func(s subject) bool { return s.script == "" },
	"peers":  func(s subject) bool { return s.outside },
	"pages":  func(s subject) bool { return s.script != "" },
	"all":    func(subject) bool { return true },
}

func groupNames() []string { return slices.Sorted(maps.Keys(groups)) }

// pickSubjects reads a list of names and groups. The order is always that of subjects.
func pickSubjects(list string) ([]subject, error) {
	wanted := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		found := false
		for _, s := range subjects {
			if group := groups[name]; s.name == name || group != nil && group(s) {
				wanted[s.name], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no subject %q: there are %s", name, strings.Join(subjectNames(), ", "))
		}
	}
	var picked []subject
	for _, s := range subjects {
		if wanted[s.name] {
			picked = append(picked, s)
		}
	}
	return picked, nil
}

func subjectNames() []string {
	var names []string
	for _, s := range subjects {
		names = append(names, s.name)
	}
	return names
}
