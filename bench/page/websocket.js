// A bare WebSocket, through a relay that passes each frame on to the other member of the room.

const most = 1 << 20 // bytes that wait to be written

export async function open({ room, relay }, receive) {
  const socket = new WebSocket(`${relay}?room=${room}`)
  socket.binaryType = 'arraybuffer'
  socket.onmessage = ({ data }) => receive(new Uint8Array(data))
  await new Promise((done, failed) => {
    socket.onopen = done
    socket.onerror = () => failed(new Error('the relay can not be reached'))
  })
  return {
    send(bytes) {
      socket.send(bytes)
      if (socket.bufferedAmount > most) return drained(socket)
    },
  }
}

const drained = (socket) =>
  new Promise((done) => {
    const timer = setInterval(() => {
      if (socket.bufferedAmount > most / 4) return
      clearInterval(timer)
      done()
    }, 1)
  })
