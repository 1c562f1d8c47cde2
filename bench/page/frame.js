// What the messages of the bench look like: byte 0 says what one is, bytes 4 to 7 its number.

export const NUMBERED = 0
export const LAST = 1
export const PING = 2
export const PONG = 3
export const FIRST = 4

export const frame = (type, number, size) => {
  const bytes = new Uint8Array(size)
  bytes[0] = type
  new DataView(bytes.buffer).setUint32(4, number)
  return bytes
}

export const first = () => frame(FIRST, 0, 64)

export const numberOf = (bytes) => ((bytes[4] << 24) | (bytes[5] << 16) | (bytes[6] << 8) | bytes[7]) >>> 0
