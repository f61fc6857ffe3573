// The sizes in docs/hosting.md match the build.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { test } from 'node:test';

import { built, DIST, ROOT } from './harness.mjs';
import { packed } from './link.mjs';

/** How far a number may drift before someone must look at it. */
const DRIFT = 0.1;

/** Bytes that a host sends for these files. */
async function sent(...files) {
  const all = files.map(async (file) => (await packed(join(DIST, file), readFileSync(join(DIST, file)), 'br')).body.length);
  return (await Promise.all(all)).reduce((sum, bytes) => sum + bytes, 0);
}

/** The numbers of the row that begins with `what`, in bytes. */
function said(what) {
  const row = readFileSync(join(ROOT, 'docs', 'hosting.md'), 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${what} |`));
  assert.ok(row, `no row "${what}"`);
  return row.split('|')[2].split('to').map((text) => 1000 * Number(text.replace(/[^\d.]/g, '')));
}

const close = (what, number, bytes) => assert.ok(Math.abs(bytes / number - 1) <= DRIFT, `${what}: ${bytes} B and not ${number} B`);

test('the sizes in docs/hosting.md', async () => {
  const layer = (file) => `${built('data')}/minilm/${file}.safetensors`;
  const module = (name) => [`${name}.js`, `${name}_bg.wasm`].map(built);
  const code = ['boot.js', 'style.css'].map(built);
  const rest = await sent(layer('layer1.qk'), layer('layer1.vo'));
  close('page', said('page, embed: code and style')[0], await sent('index.html', 'embed.html', ...code, ...module('attnscope')));
  close('first map', said('first layer, one head')[0], await sent(layer('first')));
  close('rest', said('first layer, the rest')[0], rest + (await sent(layer('sentence.x1'))));
  close('compute worker', said('compute worker')[0], await sent(...module('compute')));
  close('CPU engine', said('CPU engine')[0], await sent(...module('cpu')));
  close('self-check', said('self-check')[0], await sent('check.html', built('check.css'), ...module('check')));
  const [least, most] = said('another layer of the model');
  close('a layer of the sentence', least, rest + (await sent(layer('sentence.x2'))));
  close('a layer of the page', most, rest + (await sent(layer('page.x2'))));
});

test('every file but the pages can be kept for ever', () => {
  const files = readdirSync(DIST, { recursive: true }).filter((file) => extname(file) && extname(file) !== '.html');
  for (const file of files) assert.match(file.replaceAll('\\', '/'), /-[0-9a-f]{10}\.[a-z]+$|^data\/[0-9a-f]{10}\//);
});
