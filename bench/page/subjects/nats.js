// NATS (core, so without a store) over the server's WebSocket, default options. The sender waits for a flush every 128 messages or
// 256 KiB. It repairs itself.

import { wsconnect } from '@nats-io/nats-core'

const burst = { messages: 128, bytes: 1 << 18 }

export async function open({ role, room, port }, { receive, event }) {
  const connection = await wsconnect({ servers: `ws://127.0.0.1:${port}` })
  watch(connection, event)
  connection.subscribe(`${room}.${role}`, { callback: (error, message) => error || receive(message.data, 'relay') })
  await connection.flush() // until the server knows of the subscription
  const to = `${room}.${role === 'a' ? 'b' : 'a'}`
  let messages = 0
  let bytes = 0
  const send = (message) => {
    connection.publish(to, message)
    messages++
    bytes += message.length
    if (messages < burst.messages && bytes < burst.bytes) return
    messages = bytes = 0
    return connection.flush()
  }
  return { send }
}

async function watch(connection, event) {
  connection.closed().then(() => event('down'))
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') event('down')
    if (type === 'reconnect') event('up')
  }
}
