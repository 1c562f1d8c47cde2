// js-libp2p: a WebSocket and circuit relay v2 for the signalling, WebRTC for the data, one stream of length-prefixed messages. The
// sender waits for each write. A stream that closed is dialled anew 500 ms later.

import { noise } from '@chainsafe/libp2p-noise'
import { yamux } from '@chainsafe/libp2p-yamux'
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { lpStream } from '@libp2p/utils'
import { webRTC } from '@libp2p/webrtc'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'

const protocol = '/bench/1'
const again = 500
const choice = { runOnLimitedConnection: true, maxInboundStreams: 64, maxOutboundStreams: 64 }

const pause = (ms) => new Promise((done) => setTimeout(done, ms))
const relaySeed = new Uint8Array(32).fill(7) // that of servers/libp2p.mjs
const seedOf = async (text) => new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
const keyOf = (seed) => generateKeyPairFromSeed('Ed25519', seed)

export async function open({ role, room, port }, { receive, event }) {
  const relay = `/ip4/127.0.0.1/tcp/${port}/ws/p2p/${peerIdFromPrivateKey(await keyOf(relaySeed))}`
  const key = await keyOf(await seedOf(`${room}-b`)) // of b, so that a knows its peer id
  const node = await createLibp2p({
    ...(role === 'b' ? { privateKey: key } : {}),
    addresses: { listen: role === 'b' ? ['/p2p-circuit', '/webrtc'] : [] },
    transports: [webSockets(), webRTC({ rtcConfiguration: { iceServers: [] } }), circuitRelayTransport()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionGater: { denyDialMultiaddr: () => false },
    services: { identify: identify() },
  })
  let stream
  let messages
  const use = async (mine) => {
    stream = mine
    const own = (messages = lpStream(mine, { maxDataLength: 1 << 20 }))
    event('up')
    mine.addEventListener('close', () => {
      if (mine !== stream) return
      stream = messages = undefined
      event('down')
      if (role === 'a') dialAgain()
    })
    try {
      for (;;) receive((await own.read()).subarray(), 'direct')
    } catch {
      // The event of the close tells.
    }
  }
  const send = (bytes) => {
    if (!messages) throw new Error('there is no stream')
    return messages.write(bytes)
  }
  if (role === 'b') {
    await node.handle(protocol, (mine) => void use(mine), choice)
    await node.dial(multiaddr(relay))
    while (!node.getMultiaddrs().some((address) => address.toString().includes('/webrtc'))) await pause(10)
    return { send }
  }
  const target = multiaddr(`${relay}/p2p-circuit/webrtc/p2p/${peerIdFromPrivateKey(key)}`)
  const dial = async () => void use(await node.dialProtocol(target, protocol, choice))
  let dialling = false
  const dialAgain = async () => {
    if (dialling) return
    dialling = true
    for (let up = false; !up; ) {
      await pause(again)
      up = await dial().then(() => true, () => false)
    }
    dialling = false
  }
  await dial()
  return { send }
}
