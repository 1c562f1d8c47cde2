// The whole page of a cold start, with its subject in one bundle: it sends one message as soon as it can.

import { open } from 'subject'
import { first } from './frame.js'

const options = JSON.parse(decodeURIComponent(location.hash.slice(1)))
const { send } = await open(options, { receive() {}, event() {} })
await send(first())
