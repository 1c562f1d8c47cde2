// The measuring page: the runner drives it by window.bench. A subject is a module that exports
//
//   open({ role, room, port, peer, ... }, { receive, event }) -> { address, send(bytes), post(bytes), move() }
//
// It resolves when messages to the other page can be sent, or, in role b, when it can be found. send returns a promise when
// the sender must wait, else undefined; it throws, or the promise rejects, when the message is refused. Where it can not tell
// so, post does: it resolves when the message is delivered. move, where there is one, resolves when the path is the one that is
// to be measured. A subject that can load something before it is opened exports ahead(). receive(bytes, path) is called with each message; event('down' | 'up') when the subject tells of a lost or a
// new connection, with more words where it says more.
//
// Times are those of this page's performance.now(), in ms.

import { NUMBERED, LAST, FIRST, first, frame, numberOf, PING, PONG } from './frame.js'

// A fault closes connections behind their library's back, so all are remembered.
const connections = []
window.RTCPeerConnection = new Proxy(window.RTCPeerConnection, {
  construct(target, given, as) {
    const connection = Reflect.construct(target, given, as)
    connections.push(connection)
    return connection
  },
})

let subject
let open
let ahead
let seen
let live = false // receipts are told one by one
let firsts // of a start: when they came
let posted // of a stream
const waiting = {}

const next = (name) => new Promise((done) => (waiting[name] = done))
const happened = (name, value) => {
  const done = waiting[name]
  delete waiting[name]
  done?.(value)
}
const say = (what) => window.tell?.(JSON.stringify(what))
const receipts = [] // the last ones
let receiptsName // where they are posted
const postReceipts = () => navigator.sendBeacon(`/receipts/${receiptsName}`, JSON.stringify(receipts))
// It comes behind all who listen so far: a library may hand messages over in its own `pagehide`.
const postLast = () => {
  removeEventListener('pagehide', postReceipts)
  addEventListener('pagehide', postReceipts)
}
const came = (receipt) => {
  say(receipt)
  receipts.push(receipt)
  if (receipts.length > 1000) receipts.shift()
}
const event = (name) => say({ event: name, at: performance.now() })
const pause = (ms) => new Promise((done) => setTimeout(done, ms))
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
    case NUMBERED: {
      const now = performance.now()
      if (live) return came({ got: numberOf(bytes), at: now })
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
    case LAST:
      seen.wanted = numberOf(bytes)
      if (seen.count >= seen.wanted) happened('all')
      return
    case PING:
      return void subject.send(frame(PONG, numberOf(bytes), bytes.length))
    case PONG:
      return happened('pong')
    case FIRST:
      happened('first', performance.now())
      if (path === 'direct') happened('direct', performance.now())
  }
}

window.bench = {
  async load(script) {
    if (!crossOriginIsolated) throw new Error('the page is not isolated: its clock is coarse')
    if (document.hidden) throw new Error('the page is hidden: its timers are slow')
    ;({ open, ahead } = await import(script))
    return true
  },

  // Loads ahead what opening needs, where that can be said. False: it can not.
  async ahead() {
    await ahead?.()
    return ahead !== undefined
  },

  async open(options) {
    subject = await open(options, { receive, event })
    if (live) postLast()
    if (options.role === 'a') await subject.move?.()
    return subject.address ?? ''
  },

  now: () => performance.now(),

  // From the script's start to the first message given on: the library is loaded, and nothing of it was called.
  async start(options) {
    const begun = performance.now()
    subject = await open(options, { receive, event })
    const ready = performance.now()
    await subject.send(first())
    return { begun, ready }
  },

  // When the first message of a start comes, and the first by the direct path: call expectFirst before it.
  expectFirst({ direct }) {
    firsts = Promise.all([next('first'), direct ? next('direct') : 0])
    return true
  },
  async first() {
    const [first, direct] = await firsts
    return { first, direct }
  },

  // Traffic for a path to be set up behind.
  async flow({ every }) {
    let on = true
    next('stop').then(() => (on = false))
    while (on) {
      await subject.send(first())
      await pause(every)
    }
    return true
  },
  stop() {
    happened('stop')
    return true
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

  // Each message is told of when it comes: what counts in the end is what came, though this page may be dead by then.
  // A page that goes away is cut off from the runner before it ends: it says once more what came last.
  live(name) {
    live = true
    receiptsName = name
    postLast()
    return true
  },

  // Closes the connections that are up, behind the library's back. Others have a pool of them: those are left alone.
  cut() {
    const up = connections.filter(({ connectionState }) => connectionState === 'connected')
    for (const connection of up) RTCPeerConnection.prototype.close.call(connection)
    return up.length
  },

  // Nothing runs here any more, until somebody ends the process.
  hang() {
    setTimeout(() => {
      for (;;);
    })
    return true
  },

  // Numbered messages at an even rate. A message is refused if its sender was told so, be it later.
  async numbered({ rate, ms, size }) {
    const begun = performance.now()
    const total = Math.round((rate * ms) / 1000)
    posted = { refused: new Map(), open: new Set() }
    const { refused, open } = posted
    const refuse = (number, error) => refused.set(number, { at: performance.now(), why: String(error?.code ?? error), maybe: error?.maybe === true })
    for (let number = 0; number < total; ) {
      const due = Math.min(total, Math.floor(((performance.now() - begun) * rate) / 1000))
      for (; number < due; number++) {
        const mine = number
        try {
          const sent = (subject.post ?? subject.send)(frame(NUMBERED, mine, size))
          if (!sent?.then) continue
          open.add(mine)
          sent.then(() => open.delete(mine), (error) => open.delete(mine) && refuse(mine, error))
        } catch (error) {
          refuse(mine, error)
        }
      }
      await pause(4)
    }
    return { begun, total }
  },

  // What the sender was told of its stream. Those that it still waits for are neither refused nor known to be delivered.
  outcome() {
    return { open: posted.open.size, refused: [...posted.refused].map(([number, told]) => ({ number, ...told })) }
  },

  // As many as it takes, for so long. The receiver is told how many there were.
  async blast({ size, ms }) {
    const begun = performance.now()
    const until = begun + ms
    let number = 0
    while ((number & 15) !== 0 || performance.now() < until) {
      const wait = subject.send(frame(NUMBERED, number++, size))
      if (wait) await wait
      if ((number & 255) === 0) await breathe()
    }
    const wait = subject.send(frame(LAST, number, 64))
    if (wait) await wait
    return number
  },
}
