// What a visitor loads, in brotli: the module against an empty one that the same compiler makes in the same run, and the
// TypeScript bundle. Prints a table; exits 1 above the promised sizes.
//
//   node wasm/size/size.mjs [path of the minified bundle]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";

const mostRatio = 1.25;
const mostBundle = 16 * 1024;

const root = fileURLToPath(new URL("../..", import.meta.url));
const bundle = process.argv[2] ?? join(root, "web/dist/hyroute.js");

function go(args, env) {
  execFileSync("go", args, { cwd: root, env: { ...process.env, ...env }, stdio: ["ignore", "inherit", "inherit"] });
}

function buildEmpty(out) {
  go(["build", "-trimpath", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, "./wasm/size/empty"], {
    GOOS: "wasip1", GOARCH: "wasm", CGO_ENABLED: "0",
  });
  return readFileSync(out);
}

// The module comes from the sources and not from bin, so that what is measured is what stands there now.
function buildModule(out) {
  go(["run", "./wasm/build", out]);
  return readFileSync(out);
}

function measure(bytes) {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return { raw: bytes.length, brotli: brotliCompressSync(bytes, { params }).length };
}

function row(name, size, verdict) {
  console.log(`${name.padEnd(22)}${String(size.raw).padStart(12)}${String(size.brotli).padStart(12)}  ${verdict}`);
}

const folder = mkdtempSync(join(tmpdir(), "hyroute-size-"));
let failed = false;
try {
  const empty = measure(buildEmpty(join(folder, "empty.wasm")));
  const module = measure(buildModule(join(folder, "hyroute.wasm")));
  const ratio = module.brotli / empty.brotli;
  failed = ratio > mostRatio;
  console.log(`${"".padEnd(22)}${"bytes".padStart(12)}${"brotli".padStart(12)}`);
  row("empty module", empty, "");
  row("hyroute.wasm", module, `${ratio.toFixed(3)} of the empty one, at most ${mostRatio}${failed ? ": TOO LARGE" : ""}`);
  let text;
  try {
    text = readFileSync(bundle);
  } catch (error) {
    console.error(`size: no bundle: ${error.message}`);
    failed = true;
  }
  if (text) {
    const size = measure(text);
    const large = size.brotli > mostBundle;
    failed ||= large;
    row("hyroute.js", size, `at most ${mostBundle}${large ? ": TOO LARGE" : ""}`);
    const beside = (name, why) => row(name, measure(readFileSync(join(dirname(bundle), name))), `beside it, ${why}`);
    beside("keystore.js", "where no seed is given");
    beside("peer.js", "where there are peer connections");
    beside("last-act.js", "where a session is kept");
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;
