// The page of the end-to-end runs: an end that the runner drives by window.end, and that logs what its runtime told it
// as lines of a history. Events go to the runner by window.tell.

import { closeConnections } from '/e2e/connections.js'
import { connect } from '/hyroute.js'

let me
let telling = false
const lines = []
const trace = []
let module

// Whole milliseconds since this page began, on a clock that does not go back.
const now = () => Math.round(performance.now())
const log = (record) => lines.push({ at: now(), end: me.address, ...record })

function delivered(message) {
  log({ kind: 'delivered', message: message.value.name, from: message.from, to: message.to, path: message.path })
  if (telling) tell(JSON.stringify({ name: 'delivered', text: message.value.name }))
}

// post sends one numbered message, and settles when the runtime says what became of it.
async function post(to, number, deadline) {
  const message = `${me.address}#${number}`
  log({ kind: 'posted', message, from: me.address, to })
  try {
    const { outcome } = await me.send(to, { name: message, number }, deadline ? { deadline } : {})
    log({ kind: 'settled', message, outcome })
  } catch (error) {
    console.error(message, String(error))
    log({ kind: 'settled', message, outcome: 'rejected', reason: error.code, maybe: error.maybe })
  }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

window.end = {
  clock: () => performance.now(),

  // What is measured from then on has the module already: round trips, not how busy the machine is.
  async load() {
    module = await WebAssembly.compileStreaming(fetch('/hyroute.wasm'))
  },

  async connect({ url, tell: wanted, trace: traced }) {
    telling = wanted
    me = await connect(url, {
      module,
      warning: ({ code, text }) => console.warn(code, text),
      trace: traced ? (line) => trace.push(`${now()} ${line}\n`) : undefined,
    })
    me.on('message', delivered)
    me.on('path', (change) => tell(JSON.stringify({ name: 'path', text: JSON.stringify(change) })))
    me.on('reset', ({ peer }) => log({ kind: 'reset', peer }))
    me.on('gap', ({ peer }) => log({ kind: 'gap', peer }))
    return me.address
  },

  // stream keeps to its rate over all: what a slow timer left out is sent at the next.
  async stream({ to, count, rate, deadline }) {
    const settled = []
    const begun = performance.now()
    const mark = Math.max(1, Math.floor(count / 100))
    for (let number = 0; number < count;) {
      const due = Math.min(count, 1 + Math.floor(((performance.now() - begun) * rate) / 1000))
      while (number < due) {
        settled.push(post(to, number++, deadline))
        if (number % mark === 0) tell(JSON.stringify({ name: 'posted', count: number }))
      }
      await pause(1000 / rate)
    }
    tell(JSON.stringify({ name: 'posted', count }))
    await Promise.all(settled)
  },

  // The message is posted as soon as there is something to post it to.
  async connectAndSend({ url, to, trace: traced }) {
    const address = await this.connect({ url, tell: false, trace: traced })
    const settled = post(to, 0)
    tell(JSON.stringify({ name: 'posted', count: 1 }))
    await settled
    return address
  },

  closeConnections,

  records: () => lines.map((record) => JSON.stringify(record) + '\n').join(''),
  trace: () => trace.join(''),
}
