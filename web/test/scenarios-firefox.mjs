// Plays the corpus on the module in a page of a real Firefox, which the driver of the end-to-end runs opens.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { corpusPage, play } from "./corpus-page.mjs";
import { report, root } from "./corpus.mjs";

const served = await corpusPage();
try {
  const visit = promisify(execFile)("go", ["run", "./e2e/firefox/visit", served.url, play], { cwd: root, maxBuffer: 1 << 26 });
  visit.child.stderr.pipe(process.stderr);
  report("firefox", served.count, JSON.parse((await visit).stdout));
} finally {
  served.close();
}
