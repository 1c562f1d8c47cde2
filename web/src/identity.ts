import { base32, base64url, fromBase64url, utf8, type Bytes } from "./bytes.ts";
import { lastSegment, readRuntime } from "./address.ts";
import type { Warning } from "./errors.ts";
import { HyrouteError } from "./errors.ts";
import { pickScheme, webCrypto, type KeyPair, type Scheme } from "./scheme.ts";

/** What two runtimes tell each other to set up a peer connection (docs/protocol.md section 7). */
export interface Signal {
  from: string;
  to: string;
  kind: string;
  attempt: number;
  value: string;
}

/** The key of this runtime, and what is proved with it (docs/protocol.md section 1). */
export class Identity {
  /** The fingerprint of the key: the runtime's id. */
  readonly id: string;

  /** The public key as it travels. */
  readonly key: string;

  /** Lets another tab use the key. */
  readonly release: () => void;

  readonly #scheme: Scheme;
  readonly #secret: CryptoKey | Bytes;

  private constructor(scheme: Scheme, pair: KeyPair, id: string, release: () => void) {
    this.#scheme = scheme;
    this.#secret = pair.secret;
    this.id = id;
    this.key = base64url(pair.public);
    this.release = release;
  }

  /** The identity of a seed, or else of a key that this origin keeps. Its address stays the same as long as that is kept. `lost` is called if another page takes that key. */
  static async load(seed: Uint8Array | undefined, warn: (warning: Warning) => void, lost = () => {}): Promise<Identity> {
    if (seed && seed.length !== 32) throw new HyrouteError("bad-option", `a seed has 32 bytes, not ${seed.length}`);
    // Not everybody needs the store.
    if (!seed) {
      const { scheme, pair, release } = await (await import("./keystore.ts")).claimKey({ webCrypto, pickScheme, fingerprint }, warn, lost);
      return new Identity(scheme, pair, pair.id!, release);
    }
    const scheme = await pickScheme();
    const pair = await scheme.fromSeed(seed.slice());
    return new Identity(scheme, pair, await fingerprint(scheme, pair.public), () => {});
  }

  /** Signs that this key opens `runtime` at the node of `domain`, which gave `nonce`. */
  signOpen(nonce: string, runtime: string, domain: string): Promise<string> {
    return this.#sign(`hyroute open\n${nonce}\n${runtime}\n${domain}`);
  }

  /** Signs a signal of this runtime. */
  signSignal(signal: Signal): Promise<string> {
    return this.#sign(signalText(signal));
  }

  /** Whether `key` signed the signal and is the key that its sender's URL names. */
  async verifySignal(signal: Signal, key: unknown, signature: unknown): Promise<boolean> {
    const publicKey = fromBase64url(key, 32);
    const mark = fromBase64url(signature, 64);
    if (!publicKey || !mark || !readRuntime(signal.from) || !/^[a-z]+$/.test(signal.kind)) return false;
    if ((await fingerprint(this.#scheme, publicKey)) !== lastSegment(signal.from)) return false;
    return this.#scheme.verify(publicKey, mark, utf8(signalText(signal)));
  }

  async #sign(text: string): Promise<string> {
    return base64url(await this.#scheme.sign(this.#secret, utf8(text)));
  }
}

function signalText(signal: Signal): string {
  return `hyroute signal\n${signal.from}\n${signal.to}\n${signal.kind}\n${signal.attempt}\n${signal.value}`;
}

async function fingerprint(scheme: Scheme, key: Bytes): Promise<string> {
  return base32((await scheme.sha256(key)).subarray(0, 20));
}
