// Shortens what nobody reads in the built page: comments and indentation of scripts and styles,
// paths of the machine that built it, and the names by which the WebAssembly module and its glue
// know each other. wasm-bindgen makes those unique with a hash each
// (`__wbg_then_05ef0b1fbab2e7d5`), which nothing compresses: together 12 kB of the page.
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const dist = process.argv[2] ?? 'dist';
const glue = join(dist, 'attnscope.js');
const wasm = join(dist, 'attnscope_bg.wasm');
const IMPORTS = 2;

/** Short names in the order of the long ones; `$` keeps them apart from every other name. */
const names = new Map();
const shorten = (long) => {
  if (!names.has(long)) names.set(long, `$${names.size.toString(36)}`);
  return names.get(long);
};

const bytes = readFileSync(wasm);
let at = 8; // behind magic number and version
const number = () => {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return value;
  }
};
const encoded = (value) => {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) + 128);
  return [...out, value];
};
const text = () => {
  const length = number();
  return bytes.toString('utf8', at, (at += length));
};
const limits = () => {
  const flags = number();
  number();
  if (flags & 1) number();
};

const out = [bytes.subarray(0, at)];
while (at < bytes.length) {
  const start = at;
  const id = bytes[at++];
  const length = number();
  const end = at + length;
  if (id !== IMPORTS) {
    out.push(bytes.subarray(start, (at = end)));
    continue;
  }
  const count = number();
  const section = [...encoded(count)];
  for (let i = 0; i < count; i++) {
    const module = Buffer.from(text());
    const long = text();
    const name = Buffer.from(long.startsWith('__wbg_') ? shorten(long) : long);
    const kind = at;
    switch (bytes[at++]) {
      case 0: number(); break; // function: its type
      case 1: at++; limits(); break; // table: kind of reference, limits
      case 2: limits(); break; // memory
      case 3: at += 2; break; // global: type, mutability
      default: throw new Error(`${wasm}: an import of an unknown kind`);
    }
    section.push(...encoded(module.length), ...module, ...encoded(name.length), ...name);
    section.push(...bytes.subarray(kind, at));
  }
  if (at !== end) throw new Error(`${wasm}: the imports were not understood`);
  out.push(Buffer.from([IMPORTS, ...encoded(section.length), ...section]));
}

const replaced = new Set();
const script = readFileSync(glue, 'utf8').replace(/\b__wbg_\w+\b/g, (long) => {
  if (!names.has(long)) return long;
  replaced.add(long);
  return names.get(long);
});
const missing = [...names.keys()].filter((long) => !replaced.has(long));
if (missing.length > 0) throw new Error(`${glue} does not know ${missing.join(', ')}`);

/** Where the sources of libraries lay: panics would name them, and they are nobody's business. */
const cargo = process.env.CARGO_HOME ?? join(homedir(), '.cargo');
const quoted = `${cargo}/registry/src`.replace(/[^\w/-]/g, '\\$&');
const paths = new RegExp(`(?:${quoted}|/rustc/[0-9a-f]{40})/[\\w./@+-]*?\\.rs`, 'g');
const module = Buffer.concat(out).toString('latin1').replace(paths, (path) => ' '.repeat(path.length));
writeFileSync(wasm, module, 'latin1');

/** Block comments, lines that are comments, indentation, empty lines. */
const bare = (source) =>
  source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^\s+/gm, '')
    .replace(/\n+/g, '\n');
writeFileSync(glue, bare(script));
/** Spaces that separate nothing. A colon before a space ends a property, never a selector. */
const tight = (styles) =>
  styles.replace(/ \{ ?/g, '{').replace(/; /g, ';').replace(/;? \}/g, '}').replace(/: /g, ':').replace(/, /g, ',');
for (const name of ['style.css', 'boot.js']) {
  const file = join(dist, name);
  const short = bare(readFileSync(file, 'utf8'));
  writeFileSync(file, name.endsWith('.css') ? tight(short) : short);
}
