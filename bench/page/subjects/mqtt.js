// MQTT.js (MQTT 3.1.1) over a WebSocket, default options, QoS 0 unless told otherwise. The sender waits while 256 publishes have not
// been called back. It repairs itself.

import mqtt from 'mqtt'

const most = 256

export async function open({ role, room, port, qos = 0 }, { receive, event }) {
  const client = await mqtt.connectAsync(`ws://127.0.0.1:${port}`, { protocolVersion: 4 })
  client.on('close', () => event('down'))
  client.on('connect', () => event('up'))
  client.on('error', () => {}) // a close follows
  client.on('message', (_, got) => receive(got, 'relay'))
  await client.subscribeAsync(`${room}/${role}`, { qos })
  const to = `${room}/${role === 'a' ? 'b' : 'a'}`
  let under = 0
  let wake
  const send = (bytes) => {
    under++
    client.publish(to, bytes, { qos }, () => {
      if (--under >= most / 2) return
      wake?.()
      wake = undefined
    })
    if (under >= most) return new Promise((done) => (wake = done))
  }
  return { send }
}
