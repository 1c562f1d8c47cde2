// The measuring page: the runner drives it by window.bench. A subject is a module that exports
//
//   open({ role, room, port, peer, ... }, { receive, event }) -> { address, send(bytes) }
//
// It resolves when messages to the other page can be sent, or, in role b, when it can be found. send returns a promise when
// the sender must wait, else undefined. receive(bytes, path) is called with each message; event('down' | 'up') when the
// subject tells of a lost or a new connection.

const DATA = 0
const END = 1
const PING = 2
const PONG = 3

let subject
let open
let seen
const waiting = {}

// Byte 0 says what a message is, bytes 4 to 7 its number.
const frame = (type, number, size) => {
  const bytes = new Uint8Array(size)
  bytes[0] = type
  new DataView(bytes.buffer).setUint32(4, number)
  return bytes
}
const numberOf = (bytes) => ((bytes[4] << 24) | (bytes[5] << 16) | (bytes[6] << 8) | bytes[7]) >>> 0

const next = (name) => new Promise((done) => (waiting[name] = done))
const happened = (name) => {
  const done = waiting[name]
  delete waiting[name]
  done?.()
}
const within = (ms, what, promise) => {
  let timer
  const late = new Promise((_, failed) => (timer = setTimeout(() => failed(new Error(`${what}: not within ${ms} ms`)), ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
// Lets what has come in be handled, without the pause that timers make.
const breathe = () => {
  const channel = new MessageChannel()
  return new Promise((done) => {
    channel.port1.onmessage = done
    channel.port2.postMessage(0)
  })
}

function receive(bytes, path) {
  switch (bytes[0]) {
    case DATA: {
      const now = performance.now()
      if (seen.count === 0) seen.first = now
      seen.last = now
      seen.bytes += bytes.length
      if (path === 'direct') seen.direct++
      const number = numberOf(bytes)
      if (number !== seen.next) seen.disorder++
      seen.next = number + 1
      if (++seen.count === seen.wanted) happened('all')
      return
    }
    case END:
      seen.wanted = numberOf(bytes)
      if (seen.count >= seen.wanted) happened('all')
      return
    case PING:
      return void subject.send(frame(PONG, numberOf(bytes), bytes.length))
    case PONG:
      return happened('pong')
  }
}

window.bench = {
  async load(script) {
    if (!crossOriginIsolated) throw new Error('the page is not isolated: its clock is coarse')
    open = (await import(script)).open
    return true
  },

  async open(options) {
    subject = await open(options, { receive, event: () => {} })
    return subject.address ?? ''
  },

  // One message at a time, there and back; all of them timed as one. Times are in ms.
  async trips({ count, warm, size }) {
    const took = new Float64Array(count)
    let begun
    let last
    for (let i = -warm; i < count; i++) {
      if (i === 0) begun = last = performance.now()
      const pong = next('pong')
      const wait = subject.send(frame(PING, 0, size))
      if (wait) await wait
      await pong
      if (i < 0) continue
      const now = performance.now()
      took[i] = now - last
      last = now
    }
    took.sort()
    return { mean: (last - begun) / count, p50: took[count >> 1], p99: took[Math.floor(count * 0.99)], most: took[count - 1] }
  },

  // The receiver of a blast: call expect before it.
  expect() {
    seen = { count: 0, bytes: 0, direct: 0, disorder: 0, next: 0, wanted: -1 }
    seen.all = next('all')
    return true
  },

  // What came of a blast, as the receiver saw it, from its first message to its last.
  async received() {
    await within(30_000, 'all messages of a blast', seen.all).catch((error) => console.error(String(error)))
    const { count, wanted, disorder, direct, first, last, bytes } = seen
    return { count, wanted, disorder, direct, seconds: (last - first) / 1000, bytes }
  },

  // As many as it takes, for so long. The receiver is told how many there were.
  async blast({ size, ms }) {
    const begun = performance.now()
    const until = begun + ms
    let number = 0
    while ((number & 15) !== 0 || performance.now() < until) {
      const wait = subject.send(frame(DATA, number++, size))
      if (wait) await wait
      if ((number & 255) === 0) await breathe()
    }
    const wait = subject.send(frame(END, number, 64))
    if (wait) await wait
    return number
  },
}
