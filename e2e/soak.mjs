// Endurance: does anything grow? Random Scenes, then mounts and unmounts of the embed. `node soak.mjs
// [browser …]` prints a table; a short form of it is a test.
import { BROWSERS } from './browsers.mjs';
import { random } from './fragments.mjs';
import { built, DESK, DIST, launch, openPage, ready } from './harness.mjs';
import { serve } from './server.mjs';

/** Runs in the page before its own code: counts buffers, finds the memory, records errors. */
const watch = () => {
  const soak = { live: 0, bytes: 0, errors: [], memory: null, rejections: [] };
  globalThis.soak = soak;
  addEventListener('unhandledrejection', (event) => soak.rejections.push(String(event.reason)));
  const create = GPUDevice.prototype.createBuffer;
  const destroyed = new WeakSet();
  GPUDevice.prototype.createBuffer = function (descriptor) {
    if (!this.soakHeard) {
      this.soakHeard = true;
      this.addEventListener('uncapturederror', (event) => soak.errors.push(event.error.message));
    }
    const buffer = create.call(this, descriptor);
    soak.live += 1;
    soak.bytes += descriptor.size;
    return buffer;
  };
  const destroy = GPUBuffer.prototype.destroy;
  GPUBuffer.prototype.destroy = function () {
    if (!destroyed.has(this)) {
      destroyed.add(this);
      soak.live -= 1;
      soak.bytes -= this.size;
    }
    return destroy.call(this);
  };
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...args) => {
    const made = await instantiate(...args);
    soak.memory = (made.instance ?? made).exports.memory ?? soak.memory;
    return made;
  };
};

/** A legal Scene of one of a few sizes; all other choices are random. */
function scene(next) {
  const pick = (...list) => list[Math.floor(next() * list.length)];
  const number = (most) => Math.floor(next() * (most + 1));
  const parts = ['v=1', `src=${pick('sentence.1', 'sentence.1', 'sentence.3', 'paragraph.1', 'random.40.1', 'local.65.2')}`];
  parts.push(`m=${pick('full', 'window', 'cjar')}`, `w=${number(20)}`, `head=${number(3)}`);
  if (next() < 0.3) parts.push('causal=1');
  if (next() < 0.3) parts.push(`sinks=${number(3)}`, `dil=${1 + number(3)}`);
  if (next() < 0.5) parts.push(`reading=${pick('softmax', 'bias', 'product')}`, `s=${next().toFixed(2)}`, 's.decay=0.3');
  if (next() < 0.4) parts.push(`pk=${next().toFixed(2)}`, `pk.shape=${pick('normal', 'sinusoidal', 'onehot')}`, `pv=${next().toFixed(2)}`);
  if (next() < 0.3) parts.push(`seg=${1 + number(20)}`);
  if (next() < 0.3) parts.push(`r=${1 + number(127)}`, 'panel=output');
  if (next() < 0.2) parts.push(`rho=${1 + number(20)}`);
  if (next() < 0.2) parts.push(`pad=${number(9)}`, `empty=${pick('zero', 'mean')}`);
  if (next() < 0.2) parts.push('map=score');
  return parts.join('&');
}

const p95 = (list) => [...list].sort((a, b) => a - b)[Math.max(0, Math.ceil(0.95 * list.length) - 1)];

/** What is kept now, after a garbage collection where the browser allows one. */
async function kept(page, session) {
  await session?.send('HeapProfiler.collectGarbage');
  return page.evaluate(async () => {
    await window.attnscope.settled();
    const { live, bytes, memory } = globalThis.soak;
    return { live, bytes, wasm: memory?.buffer.byteLength ?? null, heap: performance.memory?.usedJSHeapSize ?? null };
  });
}

/** Number of points at which memory is measured. */
const LOOKS = 10;

/**
 * `changes` random Scenes, and at each of ten points the same small Scene: what is kept at half time
 * and at the end, the WebAssembly memory at all ten points, and the p95 of the first and the last
 * hundred changes (input to settled).
 */
export async function wear(browser, url, changes) {
  const page = await openPage(browser, url, { viewport: DESK, before: watch });
  await ready(page);
  const session = browser.soakChromium ? await page.createCDPSession() : null;
  const next = random(7);
  const times = [];
  const rest = 'v=1&m=window&w=2';
  const change = (fragment) =>
    page.evaluate(async (text) => {
      const start = performance.now();
      window.attnscope.set(text);
      await window.attnscope.settled();
      return performance.now() - start;
    }, fragment);
  const looks = [];
  for (let step = 1; step <= changes; step++) {
    times.push(await change(scene(next)));
    if (Math.floor((step * LOOKS) / changes) > looks.length) {
      // By way of another layer: buffers of earlier pictures are kept while a layer stays.
      await change('v=1&src=sentence.2');
      await change(rest);
      looks.push(await kept(page, session));
    }
  }
  const [early, late] = [looks[Math.ceil(looks.length / 2) - 1], looks.at(-1)];
  // The device reports an error only with the next submit.
  await change('v=1&m=window&w=3');
  const { errors, rejections } = await page.evaluate(() => globalThis.soak);
  const console_ = page.errors;
  await page.close();
  const window = Math.min(100, Math.floor(changes / 2));
  return { early, late, wasm: looks.map((look) => look.wasm), first: p95(times.slice(0, window)), last: p95(times.slice(-window)), errors: [...errors, ...rejections, ...console_] };
}

/** `mounts` embeds come and go, one after the other, in one host page; the heap of the host. */
export async function mounts(browser, url, count) {
  const page = await openPage(browser, new URL(built('boot.js'), url).href, { before: watch });
  const session = browser.soakChromium ? await page.createCDPSession() : null;
  const heap = async () => {
    await session?.send('HeapProfiler.collectGarbage');
    return page.evaluate(() => performance.memory?.usedJSHeapSize ?? null);
  };
  const mount = (src) =>
    page.evaluate(async (address) => {
      const frame = document.createElement('iframe');
      frame.src = address;
      frame.width = 640;
      frame.height = 480;
      document.body.append(frame);
      await new Promise((done) => frame.addEventListener('load', done, { once: true }));
      const inner = frame.contentWindow;
      const until = performance.now() + 30_000;
      while (!inner.attnscope && performance.now() < until) await new Promise((done) => setTimeout(done, 20));
      await inner.attnscope.ready();
      await inner.attnscope.settled();
      const drawn = inner.attnscope.frames() > 0;
      frame.remove();
      return drawn;
    }, src);
  let drawn = 0;
  let early = null;
  for (let at = 0; at < count; at++) {
    drawn += Number(await mount(new URL(`embed.html#v=1&m=window&w=${1 + (at % 9)}`, url).href));
    if (at + 1 === Math.ceil(count / 2)) early = await heap();
  }
  const late = await heap();
  // A script opened as a page has no icon, which the browser reports.
  const errors = page.errors.filter((text) => !/404/.test(text));
  await page.close();
  return { drawn, early, late, errors };
}

export async function open(name) {
  const browser = await launch(name);
  browser.soakChromium = name === 'chromium';
  return browser;
}

if (process.argv[1]?.endsWith('soak.mjs')) {
  const wanted = process.argv.slice(2).filter((it) => Number.isNaN(Number(it)));
  const [changes = 2000, count = 200] = process.argv.slice(2).map(Number).filter((it) => !Number.isNaN(it));
  const mib = (bytes) => (bytes === null ? '–' : (bytes / 2 ** 20).toFixed(1));
  const server = await serve(DIST);
  console.log(`${changes} random Scenes, ${count} mounts; MiB and buffers at half time → at the end, p95 in ms\n`);
  console.log('| browser | wasm memory | JS heap | live GPU buffers | GPU MiB | p95 first 100 → last 100 | mounts drawn | host heap | errors |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const name of wanted.length > 0 ? wanted : BROWSERS) {
    const browser = await open(name);
    try {
      const worn = await wear(browser, server.url, changes);
      const mounted = await mounts(browser, server.url, count);
      const { early, late } = worn;
      const errors = [...worn.errors, ...mounted.errors];
      console.log(
        `| ${name} | ${mib(early.wasm)} → ${mib(late.wasm)} | ${mib(early.heap)} → ${mib(late.heap)} | ${early.live} → ${late.live} | ${mib(early.bytes)} → ${mib(late.bytes)} | ${worn.first.toFixed(0)} → ${worn.last.toFixed(0)} | ${mounted.drawn} of ${count} | ${mib(mounted.early)} → ${mib(mounted.late)} | ${errors.length} |`,
      );
      console.log(`\n${name}, wasm memory at each tenth: ${worn.wasm.map(mib).join(', ')}`);
      for (const error of errors.slice(0, 5)) console.log(`\n${name}: ${error}`);
    } finally {
      await browser.close();
    }
  }
  await server.close();
}
