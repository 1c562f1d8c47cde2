// A bare data channel, signalled over the bare WebSocket relay.

const most = 1 << 20 // bytes that wait to be written

export async function open({ room, relay, peer }, receive) {
  const offers = peer !== undefined
  const connection = new RTCPeerConnection()
  const channel = connection.createDataChannel('bench', { negotiated: true, id: 0 })
  channel.binaryType = 'arraybuffer'
  channel.bufferedAmountLowThreshold = most / 4
  channel.onmessage = ({ data }) => receive(new Uint8Array(data))
  const opened = new Promise((done) => (channel.onopen = done))

  const signals = new WebSocket(`${relay}?room=${room}`)
  const tell = (signal) => signals.send(JSON.stringify(signal))
  connection.onicecandidate = ({ candidate }) => candidate && tell({ candidate })
  const early = []
  signals.onmessage = async ({ data }) => {
    const { description, candidate } = JSON.parse(data)
    if (candidate && !connection.remoteDescription) return void early.push(candidate)
    if (candidate) return connection.addIceCandidate(candidate)
    await connection.setRemoteDescription(description)
    for (const each of early.splice(0)) await connection.addIceCandidate(each)
    if (description.type !== 'offer') return
    await connection.setLocalDescription()
    tell({ description: connection.localDescription })
  }
  await new Promise((done, failed) => {
    signals.onopen = done
    signals.onerror = () => failed(new Error('the relay can not be reached'))
  })
  if (offers) {
    await connection.setLocalDescription()
    tell({ description: connection.localDescription })
    await opened
  }
  return {
    send(bytes) {
      channel.send(bytes)
      if (channel.bufferedAmount > most) return new Promise((done) => (channel.onbufferedamountlow = done))
    },
  }
}
