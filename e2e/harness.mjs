// Opens the built page in a real browser and talks to `window.attnscope`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { PNG } from 'pngjs';
import puppeteer from 'puppeteer-core';

import { launchOptions } from './browsers.mjs';
import { compare } from './compare.mjs';
import { lines, middle, place } from './image.mjs';
import { serve } from './server.mjs';

const here = dirname(fileURLToPath(import.meta.url));
export const ROOT = dirname(here);
export const DIST = join(ROOT, 'dist');
export const OUT = join(here, 'out');
mkdirSync(OUT, { recursive: true });

/** The hashed name of the file or folder that the build calls `name`: `boot.js`, `data`. */
export function built(name) {
  if (name === 'data') return `data/${readdirSync(join(DIST, name))[0]}`;
  return readdirSync(DIST).find((file) => file.replace(/-[0-9a-f]{10}(?=\.)/, '') === name);
}

export const DESK = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844, hasTouch: true };

/** Starts one browser. */
export const launch = (name, options) => puppeteer.launch(launchOptions(name, options));

/**
 * Opens `url` in a new page. The page carries `errors` (console errors, uncaught exceptions,
 * crashes) and `origins` (of every request), which `assertQuiet` judges.
 *
 * `before` is a function that runs in the page before its own code does.
 */
export async function openPage(browser, url, { viewport = DESK, before, lang } = {}) {
  const page = await browser.newPage();
  page.errors = [];
  page.origins = new Set();
  page.on('console', (message) => {
    if (message.type() === 'error') page.errors.push(message.text());
  });
  page.on('pageerror', (error) => page.errors.push(`uncaught: ${error.message}`));
  page.on('error', (error) => page.errors.push(`crashed: ${error.message}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') || protocol.startsWith('ws')) page.origins.add(origin);
  });
  await page.setViewport(viewport);
  if (before) await page.evaluateOnNewDocument(before);
  const address = new URL(url);
  if (lang) address.searchParams.set('lang', lang);
  await page.goto(address.href, { waitUntil: 'load' });
  return page;
}

/** No console error, no exception, and no request to another origin. */
export function assertQuiet(page, ...origins) {
  assert.deepEqual(page.errors, [], 'console errors');
  for (const origin of page.origins) {
    assert.ok(origins.includes(origin), `a request went to ${origin}`);
  }
}

/** Waits for `window.attnscope` and its engine: `{ backend, adapter }`. */
export async function ready(target) {
  await target.waitForFunction(() => Boolean(window.attnscope), { timeout: 60_000 });
  return target.evaluate(() => window.attnscope.ready());
}

/** Opens the page, checks that it has a GPU and computes correctly, and returns it. */
export async function openReady(browser, url, options) {
  const page = await openPage(browser, url, options);
  await assertComputes(page);
  return page;
}

/**
 * For the tests of one `describe`: a server, a browser, and one page that computes. `take` gets all
 * three before the first test; they are closed after the last.
 */
export function opened(name, take, options) {
  const made = {};
  before(async () => {
    made.server = await serve(DIST);
    made.browser = await launch(name);
    made.page = await openReady(made.browser, made.server.url, options);
    take(made);
  });
  after(async () => {
    await made.browser?.close();
    await made.server?.close();
  });
}

/**
 * Guards against test runs that pass with a lost device or without WebGPU: an adapter must be named,
 * and a row of softmax weights must sum to one.
 */
export async function assertComputes(target, wanted = 'WebGPU') {
  const { backend, adapter } = await ready(target);
  assert.equal(backend, wanted);
  assert.match(adapter, /\w/, 'the adapter has no name');
  const before = await target.evaluate(() => window.attnscope.scene());
  const map = await show(target, 'v=1');
  let sum = 0;
  for (let col = 0; col < map.cols; col++) sum += map.values[col];
  assert.ok(Math.abs(sum - 1) < 1e-4, `the first row sums to ${sum}`);
  if (before !== 'v=1') await show(target, before);
  return { backend, adapter };
}

/** Sets a scene, waits until it is drawn, and reads the drawn map. */
export async function show(target, fragment) {
  await target.evaluate(async (text) => {
    window.attnscope.set(text);
    await window.attnscope.settled();
  }, fragment);
  return readMap(target);
}

/** The drawn map: `{ rows, cols, values, visible }`. `atOnce` sets a scene just before reading. */
export async function readMap(target, { atOnce = null } = {}) {
  const packed = await target.evaluate(async (fragment) => {
    if (fragment === null) await window.attnscope.settled();
    else window.attnscope.set(fragment);
    const map = await window.attnscope.readMap();
    // As bytes: JSON turns NaN into null, and a test must see NaN.
    const pack = (numbers) => {
      const floats = Float32Array.from(numbers);
      const bytes = new Uint8Array(floats.buffer);
      let text = '';
      for (let at = 0; at < bytes.length; at += 0x8000) {
        text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
      }
      return btoa(text);
    };
    return { rows: map.rows, cols: map.cols, values: pack(map.values), visible: pack(map.visible) };
  }, atOnce);
  const unpack = (text) => {
    const bytes = Buffer.from(text, 'base64');
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  };
  return { ...packed, values: unpack(packed.values), visible: unpack(packed.visible) };
}

/** The f64 reference's results for a scene: the native program reads the same fragment. */
export async function reference(fragment) {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const target = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target');
  const program = join(target, 'debug', `attnscope-reference${suffix}`);
  const { stdout } = await promisify(execFile)(program, ['map', fragment], {
    cwd: ROOT,
    maxBuffer: 256 << 20,
  });
  return JSON.parse(stdout);
}

/** The drawn map equals the reference's, cell by cell. */
export async function judge(map, fragment) {
  const want = await reference(fragment);
  assert.deepEqual([map.rows, map.cols], [want.rows, want.cols], fragment);
  compare(map.values, want.values, fragment);
  want.visible.forEach((sees, at) => {
    assert.ok(map.visible[at] === (sees ? 1 : 0), `${fragment}: cell ${at}`);
    assert.ok(sees || map.values[at] === 0, `${fragment}: masked cell ${at}`);
  });
}

/** A number as the page writes it, and the largest rounding error that it may have. */
export function parse(text) {
  const digits = '⁰¹²³⁴⁵⁶⁷⁸⁹';
  const [mantissa, power] = text.replaceAll('−', '-').split('·10');
  const exponent = power ? Number([...power].map((c) => (c === '⁻' ? '-' : digits.indexOf(c))).join('')) : 0;
  const unit = 10 ** exponent;
  return { value: Number(mantissa) * unit, off: (power ? 0.0501 : 0.000501) * unit };
}

/** The colours of the legend, from one end to the other. */
export const coloursOfLegend = (target) =>
  target.evaluate(() => {
    const gradient = getComputedStyle(document.querySelector('.legend-bar')).backgroundImage;
    return [...gradient.matchAll(/rgb\((\d+), (\d+), (\d+)\)/g)].map((found) => found.slice(1).map(Number));
  });

/**
 * The picture on screen is the map of a Scene: each cell has the legend's colour for its number, masked
 * cells are hatched, and fully masked rows are hatched both ways. `target` may be a frame whose corner
 * is at `corner` of the page. Each cell is a texel here, and the colour scale is linear or logarithmic.
 */
export async function judgePicture(page, fragment, target = page, corner = { x: 0, y: 0 }) {
  const want = await reference(fragment);
  const legend = await target.evaluate(() => {
    document.querySelector('.map').scrollIntoView({ block: 'nearest', behavior: 'instant' });
    const { x, y, width } = document.querySelector('.map').getBoundingClientRect();
    const over = [...document.querySelectorAll('.problem, #boot-problem:not([hidden])')].map((it) => it.getBoundingClientRect().toJSON());
    return { box: { x, y, size: width }, over, numbers: [...document.querySelectorAll('.legend-number')].map((it) => it.innerText) };
  });
  const stops = await coloursOfLegend(target);
  const picture = PNG.sync.read(Buffer.from(await page.screenshot({ captureBeyondViewport: false })));
  const scale = picture.width / (await page.evaluate(() => innerWidth));
  const box = { x: (legend.box.x + corner.x) * scale, y: (legend.box.y + corner.y) * scale, size: legend.box.size * scale };
  assert.ok(box.y >= 0 && box.y + box.size <= picture.height, 'the map is not all on the screen');
  const pitch = box.size / want.cols;
  const [row, col] = new URLSearchParams(fragment).get('cell')?.split('.').map(Number) ?? [];
  const [low, high] = [legend.numbers[0], legend.numbers.at(-1)];
  // A logarithm begins at a floor, which the legend writes as "≤ …": three decades below the end.
  const log = low.startsWith('≤');
  const [lo, hi] = [log ? 0 : parse(low).value, parse(high).value];
  assert.ok(Number.isFinite(lo) && Number.isFinite(hi), `the legend says ${legend.numbers}`);
  const rightPlace = (value) => {
    const share = (value - lo) / (hi - lo);
    return log ? 1 + Math.log10(Math.max(share, 1e-3)) / 3 : share;
  };
  // The legend's numbers are rounded, and colours come in steps.
  const allowed = 0.02 + 0.001 / (hi - lo);
  const isCovered = (i, j) => {
    const [left, top] = [legend.box.x + (j * legend.box.size) / want.cols, legend.box.y + (i * legend.box.size) / want.rows];
    const side = legend.box.size / want.cols;
    return legend.over.some((it) => left < it.right + 32 && left + side > it.left - 32 && top < it.bottom + 32 && top + side > it.top - 32);
  };
  let looked = 0;
  for (let i = 0; i < want.rows; i++) {
    const fullyMasked = !want.visible.slice(i * want.cols, (i + 1) * want.cols).some(Boolean);
    for (let j = 0; j < want.cols; j++) {
      const where = `${fragment}: row ${i}, column ${j}`;
      // Under a message or its shadow.
      if (isCovered(i, j)) continue;
      if (want.visible[i * want.cols + j]) {
        // Marks hide small cells, and their lines some pixels of the neighbours.
        const reach = Math.max(1, Math.ceil(8 / pitch));
        if (pitch < 14 && (Math.abs(i - row) <= reach || Math.abs(j - col) <= reach)) continue;
        // A cell with hardly a pixel of its own may show a neighbour's.
        const near = (pitch < 3 ? [-1, 0, 1] : [0]).flatMap((down, _, by) => by.map((right) => (i + down) * want.cols + j + right));
        if (!near.every((at) => want.visible[at] !== 0)) continue;
        const colour = middle(picture, box, want, i, j);
        const { off, t } = place(colour, stops);
        assert.ok(off < 12, `${where} shows ${colour}, which is no colour of the legend`);
        const right = near.map((at) => rightPlace(want.values[at]));
        const fits = right.some((place) => Math.abs(t - place) <= allowed);
        assert.ok(hi === lo || fits, `${where} shows ${colour}: ${t} along the legend and not ${right}`);
        looked += 1;
      } else if (pitch >= 14) {
        const part = { x: Math.round(box.x + (j + 0.2) * pitch), y: Math.round(box.y + (i + 0.2) * pitch), side: Math.floor(pitch * 0.6) };
        assert.equal(lines(picture, part), fullyMasked ? 'crossed' : 'one way', where);
        looked += 1;
      }
    }
  }
  assert.ok(looked > 0, `${fragment}: nothing was looked at`);
}

/**
 * After a fault: the Scene can still be changed by keyboard, the picture on screen follows, nothing was
 * rejected or thrown, and no other origin was asked. The page must have recorded `window.rejections`;
 * its mechanism must be the window.
 */
export async function assertGoesOn(page, server) {
  const width = async () => Number(new URLSearchParams(await page.evaluate(() => window.attnscope.scene())).get('w'));
  const before = await width();
  await page.focus(slider('w'));
  await page.keyboard.press('ArrowRight');
  const map = await readMap(page);
  assert.equal(await width(), before + 1, 'the slider does not move w');
  const fragment = await page.evaluate(() => window.attnscope.scene());
  await judge(map, fragment);
  await judgePicture(page, fragment);
  assert.deepEqual(await page.evaluate(() => window.rejections), [], 'unhandled rejections');
  assertQuiet(page, server.origin);
}

/** How the page describes its engine: the state for host pages, the badge, the sentence. */
export const engine = (target) =>
  target.evaluate(() => ({
    state: document.documentElement.dataset.state,
    badge: document.querySelector('.engine-name')?.innerText ?? '',
    why: document.querySelector('.engine-name')?.title ?? '',
  }));

/** Waits until the engine is in a state: `probing`, `gpu`, `lost`, `recovering`, `cpu`. */
export const waitForState = (target, state, timeout = 30_000) =>
  target.waitForFunction((wanted) => document.documentElement.dataset.state === wanted, { timeout }, state);

/** The range input of a parameter of the scene. */
export const slider = (key) => `[data-key="${key}"] input[type="range"]`;

/** All problems on the page, as one text. */
export const problems = (target) =>
  target.evaluate(() =>
    [...document.querySelectorAll('[role="alert"]')]
      .filter((box) => !box.hidden)
      .map((box) => box.innerText)
      .join('\n'),
  );

/** Waits until the page's problems match. */
export async function waitForProblem(target, pattern) {
  const start = Date.now();
  let text = '';
  while (Date.now() - start < 30_000) {
    text = await problems(target);
    if (pattern.test(text)) return text;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`no sentence matches ${pattern}; the page says: ${JSON.stringify(text)}`);
}
