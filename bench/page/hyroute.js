// hyroute, by the relay or by a direct path. What was sent counts as on its way until its listener has it; so many may be.

import { connect } from '/hyroute.js'

const most = { messages: 1024, bytes: 1 << 20 }

export async function open({ node, peer, direct }, receive) {
  const me = await connect(node, { direct })
  let isDirect
  const moved = new Promise((done) => (isDirect = done))
  let other = peer
  me.on('message', ({ from, value, path }) => {
    other ??= from
    if (path === 'direct') isDirect()
    if (value.length > 0) receive(value)
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
    me.send(other, bytes).then(() => arrived(bytes.length), fail)
    if (way.messages >= most.messages || way.bytes >= most.bytes) return new Promise((done) => (wake = done))
  }
  if (peer) {
    await me.send(peer, new Uint8Array(0))
    if (direct) await moved
  }
  return { address: me.address, send }
}

function fail(error) {
  console.error(String(error))
  throw error
}
