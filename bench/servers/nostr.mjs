// A Nostr relay (NIP-01: EVENT, REQ, CLOSE) that stores nothing and checks no signature, for Trystero's default strategy.
// Usage: node nostr.mjs PORT
import { WebSocketServer } from 'ws'

const clients = new Map() // socket: its subscriptions, filters by id

const matches = (filter, event) =>
  (!filter.kinds || filter.kinds.includes(event.kind)) &&
  (!filter.since || event.created_at >= filter.since) &&
  (!filter['#x'] || event.tags.some(([name, value]) => name === 'x' && filter['#x'].includes(value)))

function publish(event) {
  for (const [socket, subscriptions] of clients) {
    for (const [id, filters] of subscriptions) {
      if (filters.some((filter) => matches(filter, event))) socket.send(JSON.stringify(['EVENT', id, event]))
    }
  }
}

new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]), perMessageDeflate: false }).on('connection', (socket) => {
  const subscriptions = new Map()
  clients.set(socket, subscriptions)
  socket.on('error', () => {})
  socket.on('close', () => clients.delete(socket))
  socket.on('message', (text) => {
    const [verb, what, ...filters] = JSON.parse(text)
    if (verb === 'REQ') {
      subscriptions.set(what, filters)
      socket.send(JSON.stringify(['EOSE', what]))
    } else if (verb === 'CLOSE') {
      subscriptions.delete(what)
    } else if (verb === 'EVENT') {
      socket.send(JSON.stringify(['OK', what.id, true, '']))
      publish(what)
    }
  })
})
