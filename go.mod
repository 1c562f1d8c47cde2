module github.com/hyroute/hyroute

go 1.26

require (
	github.com/coder/websocket v1.8.15
	github.com/pion/webrtc/v4 v4.2.26
	github.com/spf13/cobra v1.10.2
	github.com/tetratelabs/wazero v1.12.0
)

require golang.org/x/sys v0.44.0 // indirect

ignore node_modules
