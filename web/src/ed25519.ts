// Loaded only where WebCrypto is withheld (insecure origins) or has no Ed25519: a bundle of its own.
import { getPublicKey, hashes, sign, utils, verify } from "@noble/ed25519";
import type { Bytes } from "./bytes.ts";
import type { Scheme } from "./scheme.ts";
import { sha256, sha512 } from "./sha2.ts";

hashes.sha512 = sha512;

/** Ed25519 in plain code. Its secrets are seeds. */
export const scheme: Scheme = {
  plain: true,
  async generate() {
    return this.fromSeed(utils.randomSecretKey());
  },
  async fromSeed(seed) {
    return { secret: Uint8Array.from(seed), public: Uint8Array.from(getPublicKey(seed)) };
  },
  async sign(secret, data) {
    return Uint8Array.from(sign(data, secret as Bytes));
  },
  async verify(key, signature, data) {
    try {
      return verify(signature, data, key, { zip215: false });
    } catch {
      return false; // no point of the curve
    }
  },
  async sha256(data) {
    return sha256(data);
  },
};
