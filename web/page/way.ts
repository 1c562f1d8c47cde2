import type { Path, Runtime } from "../src/index.ts";
import type { DirectSwitch } from "./direct-switch.ts";
import { byId, make } from "./elements.ts";

const mostEvents = 200;

/** What a person sees of the way to the other side, and can do to it. */
export class Way {
  readonly #direct: DirectSwitch;
  readonly #break = byId<HTMLButtonElement>("break");
  readonly #return = byId<HTMLButtonElement>("return");
  #path: Path | undefined;
  #server = false;
  #connected = false;

  constructor(me: Runtime, direct: DirectSwitch) {
    this.#direct = direct;
    if (!direct.RTCPeerConnection) this.#said("This browser makes no direct connections: everything goes by the server.");
    this.#break.onclick = () => {
      this.#said("You broke the direct path.");
      direct.break();
      this.#show();
    };
    this.#return.onclick = () => {
      direct.restore();
      this.#said("The direct path may return. After a break it is tried again a little later each time.");
      this.#show();
    };
    me.on("path", ({ path }) => this.#took(path));
    me.on("status", (status) => {
      if (status.kind === "peer") {
        const live = status.status === "live";
        if (live && !this.#connected) this.#said("A direct connection is there, and is being tried.");
        if (!live && this.#connected) this.#said("The direct connection is gone.");
        this.#connected = live;
      } else if (status.kind === "node") {
        const live = status.status === "live";
        if (live !== this.#server) this.#said(live ? "Connected to the server." : "The server is lost; trying again.");
        this.#server = live;
      }
      this.#show();
    });
    this.#show();
    me.on("gap", () => this.#said("The other side started over: something it sent before may be missing."));
    me.on("reset", ({ doubt }) => this.#said(`The other side started over; ${doubt} of your messages may not have arrived.`));
  }

  /** A message went or came on that path: the way, as long as nothing else is known. */
  saw(path: Path | undefined): void {
    if (this.#path === undefined) this.#took(path);
  }

  #took(path: Path | undefined): void {
    if (path === "local" || path === undefined || path === this.#path) return;
    this.#said(path === "direct" ? "Messages go directly now." : "Messages go by the server now.");
    this.#path = path;
    this.#show();
  }

  #show(): void {
    const broken = this.#direct.broken;
    const able = this.#direct.RTCPeerConnection !== undefined;
    const direct = this.#path === "direct";
    mark("direct", direct ? "now" : broken ? "broken" : this.#connected ? "ready" : "off", direct ? "in use" : broken ? "broken by you" : this.#connected ? "being tried" : able ? "not yet" : "not here");
    mark("relay", this.#path === "relay" ? "now" : this.#server ? "ready" : "off", this.#path === "relay" ? "in use" : this.#server ? "ready" : "lost");
    byId("map").dataset["path"] = this.#path ?? "none";
    byId("path").textContent =
      this.#path === "direct"
        ? "Messages go straight to the other browser. Should that break, the server takes over, and nothing is lost."
        : this.#path === "relay"
          ? broken
            ? "You broke the direct path: messages go by the server until you let it return."
            : "Messages go by the server. A direct path is looked for in the meantime."
          : "Nobody to talk to yet.";
    this.#break.disabled = broken || !able;
    this.#return.disabled = !broken;
  }

  #said(text: string): void {
    const list = byId("events");
    const item = make("li");
    const time = make("time", "", new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" }));
    item.append(time, make("span", "", text));
    list.prepend(item);
    while (list.childElementCount > mostEvents) list.lastElementChild!.remove();
  }
}

function mark(line: "direct" | "relay", use: string, text: string): void {
  byId(`${line}-line`).dataset["use"] = use;
  byId(`${line}-state`).textContent = text;
}
