/** What a restart needs of its connection. */
export interface RestartHooks {
  /** Whether this side makes the offers. */
  offers: boolean;
  /** What the connection is to be set up with now. */
  configuration(): RTCConfiguration;
  /** Takes the peer's description, and the candidates that waited for it. */
  describe(type: RTCSdpType, sdp: string): Promise<void>;
  signal(kind: string, value: string): void;
  failed(cause: unknown): void;
}

/**
 * Other paths for a connection that is up (ICE restart). Each generation of paths has one offer; the side that dialled makes it. What
 * goes wrong leaves the connection as it was.
 */
export class Restart {
  readonly #connection: RTCPeerConnection;
  readonly #hooks: RestartHooks;
  #generation = 0; // of the newest offer
  #open = false; // one that was made here is not answered
  #steps: Promise<unknown> = Promise.resolve();

  constructor(connection: RTCPeerConnection, hooks: RestartHooks) {
    this.#connection = connection;
    this.#hooks = hooks;
  }

  /** Offers other paths. The same generation again sends that offer again, if it was not answered. */
  offer(generation: number): void {
    if (!this.#hooks.offers) return;
    this.#step(async () => {
      if (generation > this.#generation) {
        this.#generation = generation;
        this.#connection.setConfiguration(this.#hooks.configuration());
        await this.#connection.setLocalDescription(await this.#connection.createOffer({ iceRestart: true }));
        this.#open = true;
      }
      if (this.#open) this.#say("reoffer");
    });
  }

  /** Takes an offer or an answer. What is of an earlier generation means nothing any more. */
  take(kind: string, value: string): void {
    const end = value.indexOf("\n");
    const generation = Number(value.slice(0, end));
    const sdp = value.slice(end + 1);
    this.#step(async () => {
      if (kind === "reanswer") {
        if (!this.#open || generation !== this.#generation) return;
        this.#open = false;
        await this.#hooks.describe("answer", sdp);
      } else if (!this.#hooks.offers && generation >= this.#generation) {
        // The same offer again says that our answer was lost.
        this.#connection.setConfiguration(this.#hooks.configuration());
        await this.#hooks.describe("offer", sdp);
        this.#generation = generation;
        await this.#connection.setLocalDescription();
        this.#say("reanswer");
      }
    });
  }

  // With all candidates that were found so far: those that were sent before may be lost.
  #say(kind: string): void {
    this.#hooks.signal(kind, `${this.#generation}\n${this.#connection.localDescription!.sdp}`);
  }

  #step(step: () => Promise<void>): void {
    this.#steps = this.#steps.then(step).catch((cause) => this.#hooks.failed(cause));
  }
}
