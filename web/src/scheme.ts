import { fromBase64url, type Bytes } from "./bytes.ts";

/** A key pair as it can be stored: a seed where WebCrypto did not make it. */
export interface KeyPair {
  readonly secret: CryptoKey | Bytes;
  readonly public: Bytes;
  /** The fingerprint of the public key, where it is known: it takes a moment to work out. */
  readonly id?: string;
}

/** What identities need of cryptography. */
export interface Scheme {
  /** Its secrets are seeds, not keys of WebCrypto. */
  readonly plain: boolean;
  generate(): Promise<KeyPair>;
  /** The key of a 32-byte seed (RFC 8032). */
  fromSeed(seed: Bytes): Promise<KeyPair>;
  sign(secret: CryptoKey | Bytes, data: Bytes): Promise<Bytes>;
  /** False for whatever is no valid signature. */
  verify(key: Bytes, signature: Bytes, data: Bytes): Promise<boolean>;
  sha256(data: Bytes): Promise<Bytes>;
}

// RFC 8410: what stands before the seed in a PKCS #8 private key.
const pkcs8Prefix = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

/** Ed25519 by WebCrypto. Its secrets can not be read out. */
export const webCrypto: Scheme = {
  plain: false,
  async generate() {
    const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
    return { secret: pair.privateKey, public: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)) };
  },
  async fromSeed(seed) {
    const key = await crypto.subtle.importKey("pkcs8", Uint8Array.from([...pkcs8Prefix, ...seed]), "Ed25519", true, ["sign"]);
    const { x } = await crypto.subtle.exportKey("jwk", key);
    return { secret: key, public: fromBase64url(x, 32)! };
  },
  async sign(secret, data) {
    return new Uint8Array(await crypto.subtle.sign("Ed25519", secret as CryptoKey, data));
  },
  async verify(key, signature, data) {
    try {
      return await crypto.subtle.verify("Ed25519", await crypto.subtle.importKey("raw", key, "Ed25519", false, ["verify"]), signature, data);
    } catch {
      return false; // no point of the curve
    }
  },
  async sha256(data) {
    return new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  },
};

/** The scheme to use here: WebCrypto's, or the one in plain code where that is withheld or has no Ed25519. */
export async function pickScheme(): Promise<Scheme> {
  if (globalThis.crypto?.subtle) {
    try {
      await webCrypto.generate();
      return webCrypto;
    } catch {
      // no Ed25519 here
    }
  }
  return (await import("./ed25519.ts")).scheme;
}
