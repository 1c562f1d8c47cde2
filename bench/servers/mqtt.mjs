// The MQTT broker aedes behind a WebSocket. Usage: node mqtt.mjs PORT
import { createServer } from 'node:http'
import { Aedes } from 'aedes'
import { createWebSocketStream, WebSocketServer } from 'ws'

const broker = await Aedes.createBroker()
const http = createServer()
new WebSocketServer({ server: http, perMessageDeflate: false, handleProtocols: (offered) => [...offered][0] })
  .on('connection', (socket, request) => broker.handle(createWebSocketStream(socket), request))
http.listen(Number(process.argv[2]), '127.0.0.1')
