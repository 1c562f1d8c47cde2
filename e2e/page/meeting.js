// Many runtimes in one page that all send their first message at one moment, to runtimes that send theirs to them.

import { connect } from '/hyroute.js'

let guests = []

const now = () => performance.now()

// A guest is a runtime with its history and with the peer connections that were made for it.
class Guest {
  lines = []
  connections = []
  trace = []
  sent = 0

  async enter({ url, module }) {
    const connections = this.connections
    class Counted extends RTCPeerConnection {
      constructor(...configuration) {
        super(...configuration)
        connections.push(this)
      }
    }
    this.me = await connect(url, {
      module, RTCPeerConnection: Counted, seed: crypto.getRandomValues(new Uint8Array(32)),
      trace: (line) => /^>? ?(dial-peer|answer-peer|close-stub|stub-changed) /.test(line) && this.trace.push(line),
    })
    this.direct = new Promise((done) => this.me.on('path', ({ path }) => path === 'direct' && done(true)))
    this.met = new Promise((done) => this.me.on('message', ({ value, from, to, path }) => {
      this.log({ kind: 'delivered', message: value, from, to, path })
      done(true)
    }))
    this.me.on('reset', ({ peer }) => this.log({ kind: 'reset', peer }))
    this.me.on('gap', ({ peer }) => this.log({ kind: 'gap', peer }))
  }

  log(record) { this.lines.push({ at: Math.round(now()), end: this.me.address, ...record }) }

  async greet(to) {
    const message = `${this.me.address}#${this.sent++}`
    this.log({ kind: 'posted', message, from: this.me.address, to })
    try {
      const { outcome } = await this.me.send(to, message)
      this.log({ kind: 'settled', message, outcome })
    } catch (error) {
      this.log({ kind: 'settled', message, outcome: 'rejected', reason: error.code, maybe: error.maybe })
    }
  }
}

export const meeting = {
  // gather makes so many runtimes, and gives their addresses.
  async gather({ url, count }) {
    const module = await WebAssembly.compileStreaming(fetch('/hyroute.wasm'))
    guests = Array.from({ length: count }, () => new Guest())
    await Promise.all(guests.map((g) => g.enter({ url, module })))
    return guests.map((g) => g.me.address)
  },

  // meet has each of them greet its peer when this page's clock reads so many ms, and returns when all have met.
  async meet({ peers, at }) {
    await new Promise((done) => setTimeout(done, at - now()))
    await Promise.all(guests.map((g, i) => Promise.all([g.greet(peers[i]), g.met])))
  },

  // onDirect returns when all of them are on a direct path. A connection that failed is made anew only while something is
  // sent: so they go on. It says how many more messages that took.
  async onDirect({ peers }) {
    const first = guests.map((g) => g.sent)
    const later = () => new Promise((done) => setTimeout(done, 1000))
    await Promise.all(guests.map(async (g, i) => {
      while (!await Promise.race([g.direct, later()])) await g.greet(peers[i])
    }))
    return guests.reduce((sum, g, i) => sum + g.sent - first[i], 0)
  },

  // survey says which peer connections each of them has, as its machine and as the browser know them.
  survey: () => guests.map((g) => ({
    trace: g.trace,
    open: g.connections.filter((c) => c.connectionState !== 'closed').length,
  })),

  // part ends them, and gives their histories.
  async part() {
    await Promise.all(guests.map((g) => g.me.close()))
    return guests.splice(0).map((g) => g.lines.map((record) => JSON.stringify(record) + '\n').join('')).join('')
  },
}
