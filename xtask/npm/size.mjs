// Weighs the page as a server sends it: brotli of everything but layer data. Exit status 1 above
// the budget. The self-check is a page of its own, loaded when it is asked for, and the compute
// worker and the CPU engine are modules of their own, loaded after the first map and where no graphics
// device draws: weighed, not counted.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const BUDGET = 420_000;
const COUNTED = new Set(['.wasm', '.js', '.mjs', '.css', '.html']);

function* walk(dir) {
  for (const name of readdirSync(dir).sort()) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

const dist = process.argv[2] ?? 'dist';
let total = 0;
for (const path of walk(dist)) {
  if (!COUNTED.has(extname(path))) continue;
  const bytes = readFileSync(path);
  const small = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  }).length;
  const apart = /^(check|compute|cpu)/.test(relative(dist, path));
  if (!apart) total += small;
  console.log(`  ${relative(dist, path).padEnd(28)} ${String(bytes.length).padStart(9)} B ${String(small).padStart(8)} B brotli${apart ? ' (apart)' : ''}`);
}
console.log(`  ${'total'.padEnd(28)} ${''.padStart(11)} ${String(total).padStart(8)} B of ${BUDGET} B`);
if (total === 0) {
  console.error('nothing to weigh: build the page first');
  process.exit(1);
}
if (total > BUDGET) {
  console.error(`the page is ${total - BUDGET} B above its budget`);
  process.exit(1);
}
