// hyroute, by the relay or by a direct path. send settles when the listener has the message; 1024 messages or 1 MiB may be on
// their way. It repairs itself. Where pages die, it keeps its session over a reload.

import { connect, load } from '/hyroute.js'

let module

export const ahead = async () => void (module = await load())

const most = { messages: 1024, bytes: 1 << 20 }

export async function open({ role, room, port, peer, direct, keep, named = true }, { receive, event }) {
  const me = await connect(`ws://127.0.0.1:${port}/ws`, { direct, keep, module, name: named ? `${room}-${role}` : undefined })
  let isDirect
  const moved = new Promise((done) => (isDirect = done))
  let other = peer
  me.on('message', ({ from, value, path }) => {
    other ??= from
    if (value.length > 0) receive(value, path)
  })
  me.on('path', ({ path, reason }) => {
    if (path === 'direct') isDirect()
    event(`${(path === 'direct') === direct ? 'up' : 'down'} path ${path} ${reason}`)
  })
  me.on('presence', ({ status, reason }) => event(`${status === 'live' ? 'up' : 'down'} presence ${status} ${reason}`))
  me.on('status', ({ kind, status, reason }) => event(`${status === 'live' ? 'up' : 'down'} ${kind} ${status} ${reason}`))
  me.on('reset', ({ doubt, reason }) => event(`down reset ${doubt} ${reason}`))

  const way = { messages: 0, bytes: 0 }
  let wake
  const arrived = (size) => {
    way.messages--
    way.bytes -= size
    wake?.()
  }
  const post = (bytes) => me.send(other, bytes)
  const send = (bytes) => {
    way.messages++
    way.bytes += bytes.length
    post(bytes).then(() => arrived(bytes.length))
    if (way.messages >= most.messages || way.bytes >= most.bytes) return new Promise((done) => (wake = done))
  }
  const move = async () => {
    await post(new Uint8Array(0))
    if (direct) await moved
  }
  if (role === 'b') await me.explain(me.address) // answered by the module, once it is there
  return { address: me.address, send, post, move }
}
