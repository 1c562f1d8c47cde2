// Peer connections as they are made: the runner is told of each, and can close them behind the runtime's back. It is
// imported before the runtime.

const Connection = globalThis.RTCPeerConnection
const made = []

globalThis.RTCPeerConnection = class extends Connection {
  constructor(...configuration) {
    super(...configuration)
    made.push(this)
    tell(JSON.stringify({ name: 'connection' }))
  }
}

// closeConnections closes those that are in use, and says how many there were.
export function closeConnections() {
  const open = made.filter((c) => c.connectionState === 'connected')
  for (const c of open) Connection.prototype.close.call(c)
  return open.length
}
