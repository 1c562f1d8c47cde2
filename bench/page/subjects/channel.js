// A bare data channel, negotiated and ordered, signalled over the bare WebSocket relay. It waits while more than 1 MiB is to be
// written, until 256 KiB are left. A channel that closed is offered anew 100 ms later, and at once when the other side says
// hello again: what a simple program would do.

const most = 1 << 20
const again = 100

export function open({ role, room, port }, { receive, event }) {
  return new Promise((ready, failed) => {
    let connection
    let channel
    let wake
    let early = []
    const offers = role === 'a'
    const signals = new WebSocket(`ws://127.0.0.1:${port}/?room=${room}`)
    const tell = (signal) => signals.send(JSON.stringify(signal))

    const send = (bytes) => {
      if (channel?.readyState !== 'open') throw new Error('the channel is not open')
      channel.send(bytes)
      if (channel.bufferedAmount > most) return new Promise((done) => (wake = done))
    }
    const waken = () => {
      wake?.()
      wake = undefined
    }
    const make = () => {
      connection?.close()
      early = []
      const mine = (connection = new RTCPeerConnection())
      mine.onicecandidate = ({ candidate }) => candidate && mine === connection && tell({ candidate })
      mine.onconnectionstatechange = () => mine === connection && mine.connectionState === 'failed' && event('down')
      const made = (channel = mine.createDataChannel('bench', { negotiated: true, id: 0 }))
      made.binaryType = 'arraybuffer'
      made.bufferedAmountLowThreshold = most / 4
      made.onbufferedamountlow = waken
      made.onmessage = ({ data }) => receive(new Uint8Array(data), 'direct')
      made.onopen = () => {
        event('up')
        ready({ send })
      }
      made.onclose = () => {
        if (made !== channel) return
        event('down')
        waken()
        if (offers) setTimeout(offer, again)
      }
      return mine
    }
    const offer = async () => {
      const mine = make()
      await mine.setLocalDescription()
      tell({ description: mine.localDescription })
    }
    const answer = async (description) => {
      const mine = make()
      await mine.setRemoteDescription(description)
      await takeEarly()
      await mine.setLocalDescription()
      tell({ description: mine.localDescription })
    }
    const takeEarly = async () => {
      for (const candidate of early.splice(0)) await connection.addIceCandidate(candidate)
    }
    signals.onmessage = async ({ data }) => {
      const { hello, description, candidate } = JSON.parse(data)
      if (hello && offers) return offer()
      if (description?.type === 'offer') return answer(description)
      if (description) {
        await connection.setRemoteDescription(description)
        return takeEarly()
      }
      if (!candidate || !connection) return
      if (connection.remoteDescription) await connection.addIceCandidate(candidate)
      else early.push(candidate)
    }
    signals.onerror = () => failed(new Error('the relay can not be reached'))
    signals.onopen = () => {
      if (offers) return offer()
      tell({ hello: true })
      ready({ send })
    }
  })
}
