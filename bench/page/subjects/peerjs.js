// PeerJS, reliable (so ordered), with its default serialization "binary" unless told otherwise. PeerJS queues for itself above 8 MiB; the
// sender waits while it does, or while more than 1 MiB waits in the channel. PeerJS repairs nothing: connect is called again
// 500 ms after "close" or "error".

import { Peer } from 'peerjs'

const most = 1 << 20
const again = 500

export function open({ role, room, port, serialization = 'binary' }, { receive, event }) {
  return new Promise((ready) => {
    let connection
    let timer
    const peer = new Peer(`${room}-${role}`, { host: '127.0.0.1', port, path: '/', secure: false, config: { iceServers: [] }, debug: 0 })
    const send = (bytes) => {
      if (!connection?.open) throw new Error('the connection is not open')
      const sent = connection.send(serialization === 'raw' ? bytes.buffer : bytes)
      if (connection.bufferSize > 0 || connection.dataChannel.bufferedAmount > most) return drained(connection)
      return sent
    }
    const drained = (mine) =>
      new Promise((done) => {
        const timer = setInterval(() => {
          if (mine === connection && mine.open && (mine.bufferSize > 0 || mine.dataChannel.bufferedAmount > most / 4)) return
          clearInterval(timer)
          done()
        }, 1)
      })
    const use = (mine) => {
      connection = mine
      const lost = () => {
        if (mine !== connection) return
        event('down')
        if (role === 'a') dialAgain()
      }
      mine.on('open', () => {
        event('up')
        ready({ send })
      })
      mine.on('data', (got) => receive(bytesOf(got), 'direct'))
      mine.on('close', lost)
      mine.on('error', lost)
    }
    const dial = () => use(peer.connect(`${room}-b`, { reliable: true, serialization }))
    const dialAgain = () => {
      clearTimeout(timer)
      timer = setTimeout(dial, again)
    }
    peer.on('connection', use)
    peer.on('open', () => (role === 'a' ? dial() : ready({ send })))
    peer.on('error', ({ type }) => {
      if (type === 'peer-unavailable') dialAgain()
      // The server has not noticed yet that the page which had this name is gone.
      else if (type === 'unavailable-id') setTimeout(() => location.reload(), again)
    })
  })
}

const bytesOf = (got) => (got instanceof ArrayBuffer ? new Uint8Array(got) : new Uint8Array(got.buffer, got.byteOffset, got.byteLength))
