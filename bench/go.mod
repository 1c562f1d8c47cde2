module github.com/hyroute/hyroute/bench

go 1.26

require (
	github.com/coder/websocket v1.8.15
	github.com/hyroute/hyroute v0.0.0
)

replace github.com/hyroute/hyroute => ../
