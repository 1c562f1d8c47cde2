// The page of the end-to-end runs: an end that the runner drives by window.end, and that logs what its runtime told it
// as lines of a history. Events go to the runner by window.tell.

import { candidates, closeConnections } from '/e2e/connections.js'
import { filling, nameOf } from '/e2e/filling.js'
import { meeting } from '/e2e/meeting.js'
import { connect } from '/hyroute.js'

let me
let telling = false
const lines = []
const trace = []
let module
let owed = 0 // posted and not settled
let rejections = 0
let left = false // a page that is left may run on for a while
addEventListener('pagehide', () => { left = true })

// Whole milliseconds since this page began, on a clock that does not go back.
const now = () => Math.round(performance.now())
let witness // URL where each record is told
let sudden // and waited for
let told = 0
function log(record) {
  const line = { at: now(), end: me.address, ...record }
  if (!witness) return lines.push(line)
  const text = JSON.stringify(line) + '\n'
  if (!sudden) return navigator.sendBeacon(witness + told++, text)
  const request = new XMLHttpRequest()
  request.open('POST', witness + told++, false)
  request.send(text)
}

const digests = []
let pace = 0 // ms that the listener takes for each message

function delivered(message) {
  if (message.value instanceof Uint8Array) return deliveredBytes(message)
  log({ kind: 'delivered', message: message.value.name, from: message.from, to: message.to, path: message.path })
  if (telling) tell(JSON.stringify({ name: 'delivered', text: message.value.name }))
  if (pace) return pause(pace)
}

// Bytes say nothing of themselves: their name is what they are.
function deliveredBytes({ value, from, to, path }) {
  const record = { at: now(), end: me.address, kind: 'delivered', from, to, path }
  lines.push(record)
  digests.push(nameOf(from, value).then((name) => { record.message = name }))
}

// post sends one numbered message, and settles when the runtime says what became of it.
function post(to, number, plan = {}) {
  const message = `${me.address}#${number}`
  return send(to, message, { name: message, number, filling: 'x'.repeat(Math.max(0, (plan.size ?? 0) - message.length)) }, plan)
}

async function send(to, message, value, { deadline, relay, lane }) {
  log({ kind: 'posted', message, from: me.address, to, lane })
  owed++
  try {
    const options = { deadline: deadline || undefined, wish: relay ? 'never' : undefined, lane: lane || undefined }
    const { outcome } = await me.send(to, value, options)
    log({ kind: 'settled', message, outcome })
  } catch (error) {
    rejected(message, error)
  }
  owed--
}

function rejected(message, error) {
  if (rejections++ < 100) console.error(message, String(error))
  log({ kind: 'settled', message, outcome: 'rejected', reason: error.code, maybe: error.maybe })
}

// stored says whether the page before left its whole state.
async function stored() {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open('hyroute states')
    request.onupgradeneeded = () => request.transaction.abort() // there is none
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const heads = await new Promise((resolve) => {
    database.transaction('states').objectStore('states').getAll().onsuccess = ({ target }) => resolve(target.result)
  })
  database.close()
  return heads.some((head) => head.final > 0)
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms))

window.end = {
  clock: () => performance.now(),

  // What is measured from then on has the module already: round trips, not how busy the machine is.
  async load() {
    module = await WebAssembly.compileStreaming(fetch('/hyroute.wasm'))
  },

  async connect({ url, tell: wanted, trace: traced, turn, keep, domain, nodes, ...watched }) {
    telling = wanted
    ;({ witness, sudden } = watched)
    me = await connect(url, {
      module, domain, nodes, keep, ice: turn ? 'relay' : undefined,
      warning: ({ code, text }) => console.warn(code, text),
      trace: traced ? (line) => trace.push(`${now()} ${line}\n`) : undefined,
    })
    // Behind the runtime's own act.
    if (witness && !sudden) addEventListener('pagehide', () => navigator.sendBeacon(witness + 'end', String(told)))
    for (const { value, outcome } of me.restored) {
      outcome.then(({ outcome }) => log({ kind: 'settled', message: value.name, outcome }), (error) => rejected(value.name, error))
    }
    me.on('message', delivered)
    me.on('path', ({ path, reason }) => tell(JSON.stringify({ name: 'path', text: `${path}: ${reason}` })))
    me.on('presence', ({ status, reason }) => tell(JSON.stringify({ name: 'presence', text: `${status}: ${reason}` })))
    me.on('status', ({ kind, status }) => tell(JSON.stringify({ name: kind, text: status })))
    me.on('reset', ({ peer }) => log({ kind: 'reset', peer }))
    me.on('gap', ({ peer }) => log({ kind: 'gap', peer }))
    return me.address
  },

  // stream keeps to its rate over all: what a slow timer left out is sent at the next.
  async stream(plan) {
    const { to, count, rate, most, first = 0 } = plan
    const settled = []
    const begun = performance.now()
    const mark = Math.max(1, Math.floor(count / 100))
    for (let sent = 0; sent < count && !left;) {
      const room = most ? most - owed : count
      const due = Math.min(count, sent + room, 1 + Math.floor(((performance.now() - begun) * rate) / 1000))
      while (sent < due) {
        settled.push(post(to, first + sent++, plan))
        if (sent % mark === 0) tell(JSON.stringify({ name: 'posted', count: sent }))
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

  // file sends so many bytes, and returns when it is settled.
  async file({ to, number, size, lane, deadline }) {
    const bytes = filling(number, size)
    await send(to, await nameOf(me.address, bytes), bytes, { lane, deadline })
  },

  told: () => told,
  stored,
  closeConnections,
  candidates,
  owed: () => owed,
  // counted is how many pieces of messages were sent again, and how many came again and were dropped.
  async counted() {
    const sum = { resent: 0, repeated: 0 }
    for (const { resent, repeated } of (await me?.stats())?.sessions ?? []) {
      sum.resent += resent
      sum.repeated += repeated
    }
    return sum
  },
  setPace: (ms) => { pace = ms },
  ...meeting,

  records: async () => (await Promise.all(digests)) && lines.map((record) => JSON.stringify(record) + '\n').join(''),
  trace: () => trace.join(''),
}
