// The PeerServer that PeerJS ships. Usage: node peerjs.mjs PORT
import { PeerServer } from 'peer'

PeerServer({ host: '127.0.0.1', port: Number(process.argv[2]), path: '/' })
