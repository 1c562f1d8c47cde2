// Socket.IO, with its default transports (HTTP long polling first, then a WebSocket) unless told otherwise. It has no back-pressure of its
// own: an acknowledged "sync" every 128 messages or 256 KiB, two of them on their way. It repairs itself.

import { io } from 'socket.io-client'

const burst = { messages: 128, bytes: 1 << 18 }

export function open({ room, port, transports }, { receive, event }) {
  return new Promise((ready) => {
    const socket = io(`http://127.0.0.1:${port}`, { auth: { room }, forceNew: true, ...(transports ? { transports } : {}) })
    let messages = 0
    let bytes = 0
    let asked = 0
    let wake
    const send = (message) => {
      socket.emit('m', message)
      messages++
      bytes += message.length
      if (messages < burst.messages && bytes < burst.bytes) return
      messages = bytes = 0
      asked++
      socket.emit('sync', () => {
        asked--
        wake?.()
        wake = undefined
      })
      if (asked >= 2) return new Promise((done) => (wake = done))
    }
    socket.on('m', (got) => receive(new Uint8Array(got), 'relay'))
    socket.on('connect', () => {
      event('up')
      ready({ send })
    })
    socket.on('disconnect', () => event('down'))
  })
}
