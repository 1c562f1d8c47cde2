// The measuring page: the runner drives it by window.bench. A subject is a module that exports
//
//   open({ room, relay, node, peer, ... }, receive) -> { address, send(bytes) }
//
// It resolves when messages to the other page can be sent, or, where no peer is given, when it can be found. send returns
// a promise when the sender must wait, else undefined. receive is called with each message's bytes.

const END = 1
const PING = 2
const PONG = 3

let subject
let waiting = {}
let seen

const frame = (type, size) => {
  const bytes = new Uint8Array(size)
  bytes[0] = type
  return bytes
}
const next = (name) => new Promise((done) => (waiting[name] = done))
const happened = (name) => {
  const done = waiting[name]
  delete waiting[name]
  done?.()
}
// Lets what has come in be handled, without the pause that timers make.
const breathe = () => {
  const channel = new MessageChannel()
  return new Promise((done) => {
    channel.port1.onmessage = done
    channel.port2.postMessage(0)
  })
}

function receive(bytes) {
  switch (bytes[0]) {
    case PING:
      return void subject.send(frame(PONG, bytes.length))
    case PONG:
      return happened('pong')
    case END:
      return happened('end')
    default:
      seen ??= { first: performance.now(), count: 0 }
      seen.last = performance.now()
      seen.count++
  }
}

let ended

window.bench = {
  async open({ script, ...options }) {
    const { open } = await import(script)
    ended = next('end')
    subject = await open(options, receive)
    return subject.address ?? ''
  },

  // One message at a time, there and back.
  async pingpong({ rounds, warm, size }) {
    const took = []
    for (let i = -warm; i < rounds; i++) {
      const begun = performance.now()
      const pong = next('pong')
      await subject.send(frame(PING, size))
      await pong
      if (i >= 0) took.push(performance.now() - begun)
    }
    took.sort((x, y) => x - y)
    return { P50: took[rounds >> 1], P99: took[Math.floor(rounds * 0.99)] }
  },

  // As many as it takes, for so long.
  async blast({ size, ms }) {
    const until = performance.now() + ms
    for (let i = 1; performance.now() < until; i++) {
      const wait = subject.send(frame(0, size))
      if (wait) await wait
      if (i % 256 === 0) await breathe()
    }
    await subject.send(frame(END, 64))
  },

  // Of the last blast, as it came in: from its first message to its last.
  async rate() {
    await ended
    ended = next('end')
    const { first, last, count } = seen
    seen = undefined
    return ((count - 1) * 1000) / (last - first)
  },
}
