import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../src/bytes.ts";
import { Memory } from "../../src/memory.ts";

test("no two contents that are needed share bytes, and memory is used again", () => {
  const memory = new Memory();
  const needed: { memory: Bytes; mine: Bytes; mark: number }[] = [];
  const slabs = new Set<Bytes>();
  const sizes = [2, 40, 200, 1024, 16_386, 31_000, 65_536, 65_537, 200_000];
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let i = 0; i < 20_000; i++) {
    const size = sizes[random(sizes.length)]!;
    const [bytes, at] = memory.take(size);
    if (size <= 65_536) slabs.add(bytes);
    else assert.equal(bytes.length, size);
    assert.ok(at + size <= bytes.length);
    needed.push({ memory: bytes, mine: bytes.subarray(at, at + size).fill(i), mark: i & 255 });
    // The oldest one goes first, but for some; now and then all of them go.
    while (needed.length > (random(100) === 0 ? 0 : 20)) {
      const [gone] = needed.splice(random(10) === 0 ? random(needed.length) : 0, 1);
      assert.ok(gone!.mine.every((byte) => byte === gone!.mark));
      memory.release(gone!.memory);
    }
  }
  assert.ok(slabs.size < 30, `${slabs.size} slabs were made`);
});
