// Trystero with its default strategy (Nostr), over one relay of our own. The sender waits for each send. It repairs itself.

import { joinRoom } from '@trystero-p2p/nostr'

export function open({ role, room, port }, { receive, event }) {
  return new Promise((ready) => {
    const joined = joinRoom({ appId: 'bench', relayConfig: { urls: [`ws://127.0.0.1:${port}`], redundancy: 1 }, rtcConfig: { iceServers: [] } }, room)
    const action = joined.makeAction('m', { onMessage: (got) => receive(bytesOf(got), 'direct') })
    let peers = 0
    const send = (bytes) => {
      if (peers === 0) throw new Error('there is no peer')
      return action.send(bytes)
    }
    joined.onPeerJoin = () => {
      peers++
      event('up')
      ready({ send })
    }
    joined.onPeerLeave = () => {
      peers--
      event('down')
    }
    if (role === 'b') ready({ send })
  })
}

const bytesOf = (got) => (got instanceof ArrayBuffer ? new Uint8Array(got) : new Uint8Array(got.buffer, got.byteOffset, got.byteLength))
