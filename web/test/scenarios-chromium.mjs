// Plays the corpus on the module in a page of a real Chromium.
import { corpusPage, play } from "./corpus-page.mjs";
import { report } from "./corpus.mjs";
import { browser } from "./real/chromium.mjs";

const served = await corpusPage();
const chromium = await browser();
try {
  const page = await chromium.newPage();
  await page.goto(served.url);
  report("chromium", served.count, await page.evaluate(play));
} finally {
  await chromium.close();
  served.close();
}
