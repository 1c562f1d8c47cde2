// hyroute, by the relay or by a direct path. send settles when the listener has the message; 1024 messages or 1 MiB may be on
// their way. It repairs itself.

import { connect } from '/hyroute.js'

const most = { messages: 1024, bytes: 1 << 20 }

export async function open({ role, room, port, peer, direct }, { receive, event }) {
  const me = await connect(`ws://127.0.0.1:${port}/ws`, { direct, name: `${room}-${role}` })
  let isDirect
  const moved = new Promise((done) => (isDirect = done))
  let other = peer
  me.on('message', ({ from, value, path }) => {
    other ??= from
    if (value.length > 0) receive(value, path)
  })
  me.on('path', ({ path }) => path === 'direct' && isDirect())

  const way = { messages: 0, bytes: 0 }
  let wake
  const arrived = (size) => {
    way.messages--
    way.bytes -= size
    wake?.()
  }
  const send = (bytes) => {
    way.messages++
    way.bytes += bytes.length
    me.send(other, bytes).then(() => arrived(bytes.length))
    if (way.messages >= most.messages || way.bytes >= most.bytes) return new Promise((done) => (wake = done))
  }
  if (peer) {
    await me.send(peer, new Uint8Array(0))
    if (direct) await moved
  }
  return { address: me.address, send }
}
