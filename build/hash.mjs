// Puts a hash of the content into the name of every built file except the pages: `style.css` becomes
// `style-1f0c….css`, and the files under `data` move to `data/1f0c…`. A cache may keep such a file
// forever, and a page that was opened before a deploy requests the files of its own build.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

const START = 'boot.js';
const DIGITS = 10;

/** Hashes each part with its length, so that neighbouring parts cannot be confused. */
function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest('hex').slice(0, DIGITS);
}

/** The paths and contents of all files below `dir`, in the order of their names. */
const contents = (dir) =>
  readdirSync(dir, { recursive: true })
    .sort()
    .filter((name) => statSync(join(dir, name)).isFile())
    .flatMap((name) => [name.replaceAll('\\', '/'), readFileSync(join(dir, name))]);

/** Renames the files of the build in `dir` and every reference to them. Returns old name → new name. */
export function hashNames(dir) {
  const names = new Map();
  const put = (file, change) => {
    const old = readFileSync(join(dir, file), 'utf8');
    const text = change(old);
    if (text === old) throw new Error(`${file} refers to no file of the build`);
    writeFileSync(join(dir, file), text);
  };
  const rename = (name) => {
    const ending = extname(name);
    const hash = hashOf([readFileSync(join(dir, name))]);
    names.set(name, `${basename(name, ending)}-${hash}${ending}`);
    renameSync(join(dir, name), join(dir, names.get(name)));
  };

  const files = readdirSync(dir).filter((name) => statSync(join(dir, name)).isFile());
  const pages = files.filter((name) => name.endsWith('.html'));
  const glue = files.filter((name) => name.endsWith('.js') && name !== START);
  const others = files.filter((name) => ![START, ...pages, ...glue].includes(name));

  // Files that a file refers to are renamed first, since their hashes become part of its content.
  others.forEach(rename);
  for (const name of glue) {
    const module = name.replace('.js', '_bg.wasm');
    put(name, (text) => text.replaceAll(module, () => names.get(module)));
    rename(name);
  }
  const data = hashOf(contents(join(dir, 'data')));
  renameSync(join(dir, 'data'), join(dir, data));
  mkdirSync(join(dir, 'data'));
  renameSync(join(dir, data), join(dir, 'data', data));
  names.set('data', `data/${data}`);
  put(START, (text) => text.replace(/const FILES = .*;/, () => `const FILES = ${JSON.stringify(Object.fromEntries(names))};`));
  rename(START);
  for (const page of pages) {
    put(page, (text) => text.replace(/(?<=(?:href|src)="?\.\/)[\w.-]+/g, (name) => names.get(name) ?? name));
  }
  return names;
}
