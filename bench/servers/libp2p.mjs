// A js-libp2p node on a WebSocket that is a circuit relay (v2). Usage: node libp2p.mjs PORT
import './promises.mjs'
import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'

// A fixed seed, so that the pages know the relay's peer id.
const seed = new Uint8Array(32).fill(7)

await createLibp2p({
  privateKey: await generateKeyPairFromSeed('Ed25519', seed),
  addresses: { listen: [`/ip4/127.0.0.1/tcp/${process.argv[2]}/ws`] },
  transports: [webSockets()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify(), relay: circuitRelayServer() },
})
