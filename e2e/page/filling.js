// Bytes that are the same wherever they are made, and the names of such bytes.

// filling makes bytes that no compression and no repetition makes smaller: xorshift32, seeded by a number.
export function filling(number, size) {
  const words = new Uint32Array(Math.ceil(size / 4))
  let x = (number + 1) * 2654435761 >>> 0
  for (let i = 0; i < words.length; i++) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    words[i] = x
  }
  return new Uint8Array(words.buffer, 0, size)
}

// nameOf is the name of a message of bytes: its sender, and the first half of their SHA-256.
export async function nameOf(from, bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16)
  return `${from}#${[...digest].map((b) => b.toString(16).padStart(2, '0')).join('')}`
}
