// SHA-2 (FIPS 180-4) for pages that WebCrypto is withheld from: an id and a signature need it, and neither often.

interface Variant {
  bits: bigint; // of a word
  rounds: number;
  /** Rotations of the big sigmas, then of the small ones, whose last is a shift. */
  turns: [bigint, bigint, bigint][];
}

const sha256Variant: Variant = { bits: 32n, rounds: 64, turns: [[2n, 13n, 22n], [6n, 11n, 25n], [7n, 18n, 3n], [17n, 19n, 10n]] };
const sha512Variant: Variant = { bits: 64n, rounds: 80, turns: [[28n, 34n, 39n], [14n, 18n, 41n], [1n, 8n, 7n], [19n, 61n, 6n]] };

export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return sha2(sha256Variant, bytes);
}

export function sha512(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return sha2(sha512Variant, bytes);
}

function sha2({ bits, rounds, turns }: Variant, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const mask = (1n << bits) - 1n;
  const wordSize = Number(bits) / 8;
  const rotate = (x: bigint, n: bigint) => ((x >> n) | (x << (bits - n))) & mask;
  const big = ([a, b, c]: [bigint, bigint, bigint], x: bigint) => rotate(x, a) ^ rotate(x, b) ^ rotate(x, c);
  const small = ([a, b, c]: [bigint, bigint, bigint], x: bigint) => rotate(x, a) ^ rotate(x, b) ^ (x >> c);
  const primes = firstPrimes(rounds);
  const constants = primes.map((p) => root(p << (3n * bits), 3n) & mask);
  let state = primes.slice(0, 8).map((p) => root(p << (2n * bits), 2n) & mask);
  const message = padded(bytes, 16 * wordSize);
  for (let at = 0; at < message.length; at += 16 * wordSize) {
    const words: bigint[] = [];
    for (let i = 0; i < rounds; i++) {
      words[i] = i < 16
        ? word(message, at + i * wordSize, wordSize)
        : (small(turns[3]!, words[i - 2]!) + words[i - 7]! + small(turns[2]!, words[i - 15]!) + words[i - 16]!) & mask;
    }
    let [a, b, c, d, e, f, g, h] = state as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
    for (let i = 0; i < rounds; i++) {
      const t1 = h + big(turns[1]!, e) + ((e & f) ^ (~e & mask & g)) + constants[i]! + words[i]!;
      const t2 = big(turns[0]!, a) + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) & mask, c, b, a, (t1 + t2) & mask];
    }
    state = [a, b, c, d, e, f, g, h].map((x, i) => (x + state[i]!) & mask);
  }
  const digest = new Uint8Array(8 * wordSize);
  state.forEach((x, i) => {
    for (let j = 0; j < wordSize; j++) digest[i * wordSize + j] = Number((x >> BigInt(8 * (wordSize - 1 - j))) & 255n);
  });
  return digest;
}

function padded(bytes: Uint8Array, block: number): Uint8Array {
  const message = new Uint8Array(Math.ceil((bytes.length + 1 + block / 8) / block) * block);
  message.set(bytes);
  message[bytes.length] = 0x80;
  new DataView(message.buffer).setBigUint64(message.length - 8, BigInt(bytes.length) * 8n);
  return message;
}

function word(bytes: Uint8Array, at: number, size: number): bigint {
  let value = 0n;
  for (let i = 0; i < size; i++) value = (value << 8n) | BigInt(bytes[at + i]!);
  return value;
}

function firstPrimes(count: number): bigint[] {
  const primes: bigint[] = [];
  for (let n = 2n; primes.length < count; n++) if (primes.every((p) => n % p !== 0n)) primes.push(n);
  return primes;
}

/** The whole part of the nth root, by bisection. */
function root(value: bigint, n: bigint): bigint {
  let low = 0n;
  let high = 1n << 80n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** n <= value) low = middle;
    else high = middle;
  }
  return low;
}
