/** Lets a person break the peer connections of this page, and keep new ones from being made. */
export class DirectSwitch {
  /** To be given to `connect`. */
  readonly RTCPeerConnection: typeof RTCPeerConnection | undefined;

  #broken = false;
  readonly #open = new Set<RTCPeerConnection>();

  constructor() {
    const Native = globalThis.RTCPeerConnection;
    if (!Native) return;
    const made = (connection: RTCPeerConnection) => {
      if (this.#broken) {
        connection.close();
        throw new Error("the direct path is switched off by hand");
      }
      this.#open.add(connection);
      connection.addEventListener("connectionstatechange", () => {
        if (/failed|closed/.test(connection.connectionState)) this.#open.delete(connection);
      });
    };
    this.RTCPeerConnection = class extends Native {
      constructor(configuration?: RTCConfiguration) {
        super(configuration);
        made(this);
      }
    };
  }

  get broken(): boolean {
    return this.#broken;
  }

  /** Closes what there is, and lets nothing new come up. */
  break(): void {
    this.#broken = true;
    for (const connection of this.#open) {
      connection.close();
      // A close of one's own making is no event by itself.
      connection.dispatchEvent(new Event("connectionstatechange"));
    }
    this.#open.clear();
  }

  /** New ones may come up again. */
  restore(): void {
    this.#broken = false;
  }
}
