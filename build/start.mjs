// Puts the texts shown before the module runs into the built pages: the sentences of boot.js and of
// pages without JavaScript, from lang/*.json. Then it names the files by their contents (hash.mjs).
// A hook of trunk (Trunk.toml). What the files must hold is checked by crates/text/build/words.rs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { hashNames } from './hash.mjs';

const LANG = fileURLToPath(new URL('../lang/', import.meta.url));
/** The language that speaks to whoever asks for none of ours, as in crates/text/build/words.rs. */
const FIRST = 'en.json';

const stage = process.env.TRUNK_STAGING_DIR;
const others = readdirSync(LANG).filter((name) => name.endsWith('.json') && name !== FIRST);
const languages = [FIRST, ...others.sort()].map((name) => JSON.parse(readFileSync(join(LANG, name), 'utf8')));

const spoken = languages.map(({ language: { tag }, start }) => {
  const words = Object.entries(start).filter(([name]) => !name.startsWith('NOSCRIPT'));
  return { tag, words: Object.fromEntries(words) };
});
const accepts = languages.flatMap(({ language }, at) => language.accepts.map((tag) => [tag.toLowerCase(), at]));
accepts.sort(([a], [b]) => b.length - a.length);

/** Replaces one place of a file, which must exist. */
const put = (name, place, text) => {
  const path = join(stage, name);
  const source = readFileSync(path, 'utf8');
  if (!place.test(source)) throw new Error(`${name} has no place for its words`);
  writeFileSync(path, source.replace(place, text));
};

put('boot.js', /const LANGUAGES = .*;/, () => `const LANGUAGES = ${JSON.stringify(spoken)};`);
put('boot.js', /const ACCEPTS = .*;/, () => `const ACCEPTS = ${JSON.stringify(accepts)};`);
const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');
for (const page of ['index.html', 'embed.html', 'check.html']) {
  put(page, /<noscript data-words="?(\w+)"?><\/noscript>/, (_, name) => {
    const said = languages.map(({ language: { tag, direction }, start }) => `<p lang="${tag}" dir="${direction}">${escaped(start[name])}</p>`);
    return `<noscript>${said.join('')}</noscript>`;
  });
}
hashNames(stage);
