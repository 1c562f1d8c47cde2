// The page, as a person uses it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser } from "./chromium.mjs";
import { freePort, startNode } from "./message-node.mjs";

let node;
let chromium;
before(async () => ([node, chromium] = await Promise.all([freePort().then((port) => startNode(port)), browser()])));
after(() => Promise.all([chromium.close(), node.stop()]));

async function visit(context) {
  const page = await context.newPage();
  watch(page);
  await page.goto(`http://localhost:${node.port}/`);
  await page.waitForFunction(() => /^hyperty:/.test(document.getElementById("address").textContent));
  return page;
}

function watch(page) {
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.faults.push(message.text()));
}

const number = (page, id) => page.evaluate((name) => Number(document.getElementById(name).textContent.replaceAll(/\D/g, "")), id);
const shows = (page, id, text) => page.waitForFunction(([name, part]) => document.getElementById(name).textContent.includes(part), [id, text]);

test("two tabs: messages, a stream, the direct path broken and let back, nothing lost", async () => {
  const context = await chromium.newContext();
  const a = await visit(context);
  const [b] = await Promise.all([context.waitForEvent("page"), a.click("#second")]);
  watch(b);
  await shows(b, "server", "Connected");
  await b.fill("#text", "<b>hello</b>");
  await b.press("#text", "Enter");
  await shows(a, "messages", "<b>hello</b>");
  await shows(b, "messages", "delivered in");
  assert.equal(await a.inputValue("#to"), await b.textContent("#address"), "who wrote is who is written to");
  await a.fill("#text", "and back");
  await a.press("#text", "Enter");
  await shows(b, "messages", "and back");

  await b.evaluate(() => {
    const rate = document.getElementById("rate");
    rate.value = "80";
    rate.dispatchEvent(new Event("input"));
  });
  await b.click("#flow");
  await shows(b, "path", "straight to the other browser");
  await shows(b, "direct-state", "in use");
  await b.click("#break");
  await shows(b, "relay-state", "in use");
  await shows(b, "direct-state", "broken by you");
  const broken = await number(b, "confirmed");
  await b.waitForFunction((n) => Number(document.getElementById("confirmed").textContent.replaceAll(/\D/g, "")) > n + 100, broken);
  await b.click("#return");
  await shows(b, "direct-state", "in use");
  await b.click("#flow");
  await b.waitForFunction(() => document.getElementById("sent").textContent === document.getElementById("confirmed").textContent);
  const sent = await number(b, "sent");
  await a.waitForFunction((n) => Number(document.getElementById("received").textContent.replaceAll(/\D/g, "")) === n, sent);
  for (const id of ["missing", "twice", "disorder"]) assert.equal(await number(a, id), 0, id);
  const events = await b.textContent("#events");
  for (const text of ["Connected to the server", "Messages go directly now", "You broke the direct path", "Messages go by the server now", "may return"]) assert.ok(events.includes(text), text);
  assert.deepEqual([...a.faults, ...b.faults], []);
});

test("somebody who writes to a dead address is told in words", async () => {
  const page = await visit(await chromium.newContext());
  await page.fill("#to", "nonsense");
  await page.fill("#text", "hello?");
  await page.press("#text", "Enter");
  await shows(page, "messages", "that is no address");
});

for (const [name, viewport] of [["a phone", { width: 390, height: 844 }], ["a small phone", { width: 320, height: 568 }], ["a desk", { width: 1280, height: 900 }]]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`the page fits ${name} in ${colorScheme}, with contrast and labels`, async () => {
      const page = await visit(await chromium.newContext({ viewport, colorScheme }));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
      assert.deepEqual(await page.evaluate(unlabelled), []);
      assert.deepEqual(await page.evaluate(faint), []);
      assert.deepEqual(page.faults, []);
    });
  }
}

/** Fields and buttons without a name. */
function unlabelled() {
  return [...document.querySelectorAll("input, button, a")]
    .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim()))
    .map((e) => e.outerHTML);
}

/** Texts that stand out less than WCAG AA asks for. */
function faint() {
  const channel = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const rgba = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const color = rgba(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] > 0.99) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll("body *")]
    .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && e.checkVisibility() && !e.closest("button:disabled, noscript"))
    .map((e) => {
      const [x, y] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
      return [e.id || e.textContent.trim().slice(0, 30), (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05)];
    })
    .filter(([, ratio]) => ratio < 4.5);
}
