// A bare WebSocket, through a relay that passes each frame on to the other member of the room. It waits while more than 1 MiB
// is to be written. A socket that closed is made anew 500 ms later: what a simple program would do.

const most = 1 << 20
const again = 500

export function open({ room, port }, { receive, event }) {
  return new Promise((ready) => {
    let socket
    const dial = () => {
      socket = new WebSocket(`ws://127.0.0.1:${port}/?room=${room}`)
      socket.binaryType = 'arraybuffer'
      socket.onmessage = ({ data }) => receive(new Uint8Array(data), 'relay')
      socket.onopen = () => {
        event('up')
        ready({ send })
      }
      socket.onclose = () => {
        event('down')
        setTimeout(dial, again)
      }
    }
    const send = (bytes) => {
      if (socket.readyState !== WebSocket.OPEN) throw new Error('the socket is not open')
      socket.send(bytes)
      if (socket.bufferedAmount > most) return drained(socket)
    }
    dial()
  })
}

const drained = (socket) =>
  new Promise((done) => {
    const timer = setInterval(() => {
      if (socket.bufferedAmount > most / 4 && socket.readyState === WebSocket.OPEN) return
      clearInterval(timer)
      done()
    }, 1)
  })
