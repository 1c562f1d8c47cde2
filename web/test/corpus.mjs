// The scenario files, and how a runner reports.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** All files of the corpus, in the order of their names. */
export function corpus() {
  const folder = `${root}scenarios/corpus`;
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".txt")).sort();
  if (names.length === 0) throw new Error(`no scenario in ${folder}`);
  return names.map((name) => ({ name: name.slice(0, -".txt".length), text: readFileSync(`${folder}/${name}`, "utf8") }));
}

/** The one line on stdout; details go to stderr. */
export function report(body, count, faults) {
  for (const fault of faults) console.error(`${body}: ${fault}`);
  console.log(`${body}: ${count - faults.length} passed, ${faults.length} failed`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
