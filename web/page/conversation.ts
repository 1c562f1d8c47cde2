import type { HyrouteError, Message, Path, Runtime } from "../src/index.ts";
import { now } from "./clock.ts";
import { byId, make } from "./elements.ts";
import { failure, milliseconds, pathName } from "./words.ts";

const most = 500;

/** The list of messages. */
export class Conversation {
  readonly #list = byId<HTMLOListElement>("messages");

  /** Shows a text of one's own, and what becomes of it. */
  async send(me: Runtime, to: string, text: string, fromPage: boolean): Promise<void> {
    const meta = this.#add("mine", text);
    meta.append(make("span", "", "sending…"));
    const start = now();
    try {
      const { path } = await me.send(to, fromPage ? { text, at: start } : text);
      meta.replaceChildren(badge(path), make("span", "", `delivered in ${milliseconds(now() - start)}`));
    } catch (error) {
      meta.replaceChildren(make("span", "badge bad", "not delivered"), make("span", "", failure(error as HyrouteError)));
    }
  }

  /** Shows a message that came in. `delay` is how long it was under way, if that can be known. */
  receive(message: Message, delay: number | undefined): void {
    const { value } = message;
    const text = typeof value === "string" ? value : value instanceof Uint8Array ? `${value.length} bytes` : isText(value) ? value.text : JSON.stringify(value);
    const meta = this.#add("theirs", text);
    meta.append(badge(message.path));
    if (delay !== undefined) meta.append(make("span", "", `under way for ${milliseconds(delay)}`));
  }

  #add(whose: "mine" | "theirs", text: string): HTMLElement {
    const item = make("li", whose);
    item.append(make("span", "unseen", whose === "mine" ? "You: " : "They: "), make("span", "", text));
    const meta = make("div", "meta");
    item.append(meta);
    const atEnd = this.#list.scrollHeight - this.#list.scrollTop - this.#list.clientHeight < 80;
    this.#list.append(item);
    while (this.#list.childElementCount > most) this.#list.firstElementChild!.remove();
    // Below the text comes what is said of it; then the end is the end.
    if (atEnd || whose === "mine") requestAnimationFrame(() => (this.#list.scrollTop = this.#list.scrollHeight));
    return meta;
  }
}

/** A text of such a page, with the time it was sent. */
export function isText(value: unknown): value is { text: string; at: number } {
  const v = value as { text: string; at: number } | null;
  return typeof v === "object" && v !== null && typeof v.text === "string" && typeof v.at === "number";
}

function badge(path: Path | undefined): HTMLElement {
  return make("span", `badge ${path ?? ""}`, pathName(path) || "delivered");
}
