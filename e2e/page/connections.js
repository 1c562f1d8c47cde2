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

// candidates are the kinds of the local candidates of those that are in use.
export async function candidates() {
  const open = made.filter((c) => c.connectionState === 'connected')
  return (await Promise.all(open.map((c) => c.getStats()))).flatMap((stats) => {
    const all = [...stats.values()]
    const selected = all.find((s) => s.type === 'transport')?.selectedCandidatePairId
    // Firefox names the pair in use by itself.
    const pair = all.find((s) => s.type === 'candidate-pair' && (s.id === selected || s.selected))
    return pair ? [stats.get(pair.localCandidateId).candidateType] : []
  })
}
