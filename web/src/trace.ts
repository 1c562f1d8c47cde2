import type { Bytes } from "./bytes.ts";
import type { Effect } from "./lines.ts";
import type { Trace } from "./loop.ts";
import { unpack, type Batch } from "./packed.ts";
import { decodeEffects, encode, encodeEvent } from "./wire.ts";

/** Writes what goes through the door as lines, in the form of a scenario. */
export function lines(write: (line: string) => void): Trace {
  const effects = (list: readonly Effect[]) => {
    write("----");
    for (const effect of list) write(encode(effect));
  };
  return {
    opened(line, output) {
      write(line.trimEnd());
      effects(decodeEffects(output));
    },
    told(now, batch) {
      write("");
      write(`at now=${now}`);
      for (const line of eventLines(batch)) write(line);
    },
    answered: (output, names) => effects(effectsOf(output, [...names])),
  };
}

function eventLines(batch: Batch): string[] {
  return batch.events.flatMap((event) => {
    if (event?.verb !== "delivery-taken") return event ? [encodeEvent(event)] : [];
    const { verb, delivery, count } = event;
    return Array.from({ length: count! }, (_, i) => encodeEvent({ verb, delivery: delivery + i }));
  });
}

/** Packed effects, one by one. `names` are the machine's handles, and are kept up to date. */
export function effectsOf(output: Bytes, names: string[]): Effect[] {
  const all: Effect[] = [];
  const add = (effect: object) => void all.push(effect as Effect);
  unpack(output, names, {
    transmit(stub, handle, pad, head, numbers) {
      const parts: number[][] = [];
      for (let i = 0; i < numbers.length; i += 3) parts.push(numbers.slice(i, i + 3));
      add({ verb: "transmit", stub, handle, head: head.slice(), pad, parts });
    },
    hold(session, first, frame, offset, lengths) {
      for (const [i, length] of lengths.entries()) {
        add({ verb: "hold", session, number: first + i, frame, offset, length });
        offset += length;
      }
    },
    drop: (session, first, last) => add({ verb: "drop", session, first, last }),
    deliver: (delivery, session, first, last, path, from, to) => add({ verb: "deliver", delivery, session, first, last, from, to, path }),
    delivered(first, count) {
      for (let msg = first; msg < first + count; msg++) {
        add({ verb: "settle", msg, outcome: "delivered" });
        add({ verb: "release", msg });
      }
    },
    release: (msg) => add({ verb: "release", msg }),
    wake: (at) => add({ verb: "wake", at }),
    other: add,
  });
  return all;
}
