// A Socket.IO server that passes "m" on to the other members of the room. Usage: node socketio.mjs PORT
import { createServer } from 'node:http'
import { Server } from 'socket.io'

const http = createServer()
new Server(http, { cors: { origin: '*' } }).on('connection', (socket) => {
  const { room } = socket.handshake.auth
  socket.join(room)
  socket.on('m', (bytes) => socket.to(room).emit('m', bytes))
  socket.on('sync', (acknowledge) => acknowledge())
})
http.listen(Number(process.argv[2]), '127.0.0.1')
