// Times the page per browser and text, and prints Markdown tables. Exits with status 1 when a first map
// comes later than its gate; no test depends on a time.
//
//   node bench.mjs [chromium] [firefox] [cpu] [--dist FOLDER]
//
// `cpu` times the CPU engine, in browsers without WebGPU. `--dist` names an older build (a path from
// the project's folder), which is measured in the same run, in turns, with ratios at the end.
import { existsSync } from 'node:fs';
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { BROWSERS } from './browsers.mjs';
import { DESK, DIST, launch, openPage, ready, ROOT, show, slider } from './harness.mjs';
import { serve } from './server.mjs';

const { values: options, positionals } = parseArgs({ options: { dist: { type: 'string' } }, allowPositionals: true });
const CPU = positionals.includes('cpu');
const wanted = positionals.filter((word) => word !== 'cpu');
const stop = (why) => {
  console.error(why);
  process.exit(1);
};
for (const name of wanted) {
  if (!BROWSERS.includes(name)) stop(`'${name}' is not one of ${BROWSERS.join(', ')}`);
}
/** The builds that are measured: this one, and an older one beside it. */
const BUILDS = { new: resolve(ROOT, process.env.DIST ?? DIST), ...(options.dist ? { old: resolve(ROOT, options.dist) } : {}) };
for (const dir of Object.values(BUILDS)) {
  if (!existsSync(join(dir, 'index.html'))) stop(`there is no build in ${dir}`);
}
/** The networks over which the first map is timed: their speed, and the gate in ms. */
const LINKS = {
  'no limit': { gate: 1_500 },
  '10 Mbit/s, 40 ms': { gate: 2_500, link: { bytesPerSecond: 10e6 / 8, latency: 40 } },
};
const STARTS = 5;
/** Drags of each kind: a ratio of two builds needs more than one of each. */
const ROUNDS = options.dist ? 3 : 1;
/** The sources, by their names in the table. */
const TEXTS = {
  'sentence (24)': 'sentence.1',
  'paragraph (120)': 'paragraph.1',
  'page (512)': 'page.1',
  // A graphics device draws longer ones too, but there the three texts are enough.
  ...(CPU ? { 'made-up (2048)': 'random.2048.1' } : {}),
};
const STEPS = 120;
/** The dragged parameters, each with a scene in which it acts. */
const DRAGS = {
  w: 'm=window&w=2',
  s: 'm=cjar&reading=bias&s=0.1&s.decay=0.3',
  r: 'm=cjar&r=8&panel=output',
};

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
/** The nearest-rank percentile. */
const percentile = (numbers, share) => sorted(numbers)[Math.max(0, Math.ceil(share * numbers.length) - 1)];
const ms = (number) => (number === undefined || number === null ? '–' : number.toFixed(number < 10 ? 1 : 0));

/**
 * Milliseconds from navigation to the first map, in a page without a cache: the median of some starts
 * per build, with the builds taking turns.
 */
async function firstMaps(browser, urls, starts) {
  const times = Object.fromEntries(Object.keys(urls).map((build) => [build, []]));
  for (let run = 0; run < starts; run++) {
    for (const [build, url] of Object.entries(urls)) times[build].push(await firstMapOnce(browser, url));
  }
  return Object.fromEntries(Object.entries(times).map(([build, all]) => [build, percentile(all, 0.5)]));
}

async function firstMapOnce(browser, url) {
  const context = await browser.createBrowserContext();
  try {
    const page = await openPage(context, url);
    await page.waitForFunction(() => performance.getEntriesByName('attnscope:first-map').length > 0, { timeout: 120_000 });
    return await page.evaluate(() => performance.getEntriesByName('attnscope:first-map')[0].startTime);
  } finally {
    await context.close();
  }
}

/**
 * One drag over the whole slider with the real pointer: latencies of every presented frame, GPU times,
 * long tasks. A latency counts from the time stamp of the newest input event that a frame shows to the
 * first turn of the page that finds the frame finished: an animation frame, or the input event that
 * begins one.
 */
async function drag(page, key) {
  const input = await page.waitForSelector(slider(key), { timeout: 30_000 });
  await input.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await page.evaluate(() => {
    const watch = { gpu: [], long: null };
    // Firefox has no long-task entries; its column stays empty.
    if (PerformanceObserver.supportedEntryTypes.includes('longtask')) {
      watch.long = [];
      watch.observer = new PerformanceObserver((list) => watch.long.push(...list.getEntries().map((entry) => entry.duration)));
      watch.observer.observe({ type: 'longtask' });
    }
    const look = () => {
      const time = window.attnscope.report()?.gpu_ms;
      if (typeof time === 'number' && time !== watch.gpu.at(-1)) watch.gpu.push(time);
      watch.frame = requestAnimationFrame(look);
    };
    look();
    window.watch = watch;
    window.attnscope.latencies();
  });
  const box = await input.boundingBox();
  const y = box.y + box.height / 2;
  const x = (step) => box.x + 4 + ((box.width - 8) * step) / STEPS;
  await page.mouse.move(x(0), y);
  await page.mouse.down();
  for (let step = 1; step <= STEPS; step++) await page.mouse.move(x(step), y);
  await page.mouse.up();
  return page.evaluate(async () => {
    await window.attnscope.settled();
    cancelAnimationFrame(window.watch.frame);
    window.watch.observer?.disconnect();
    const { gpu, long } = window.watch;
    return { latencies: [...window.attnscope.latencies()], gpu, long };
  });
}

/** Time of a map in the CPU engine's worker, by length and mechanism: best and median of many. */
const LENGTHS = [24, 120, 512, 2048];
const MECHANISMS = {
  full: 'm=full',
  'window 16': 'm=window&w=16',
  cjar: 'm=cjar&reading=bias&pk=0.5&s=1&s.decay=0.3',
};
async function maps(page, length, choices) {
  const times = [];
  for (let run = 0; run < 25; run++) {
    await show(page, `v=1&src=random.${length}.1&${choices}&scale=${(0.1 + run / 1000).toFixed(3)}`);
    times.push(await page.evaluate(() => window.attnscope.report().gpu_ms));
  }
  return times;
}

/** Milliseconds for 8 million dependent multiply-adds in plain JavaScript: the speed of this machine now. */
const plainLoop = (page) =>
  page.evaluate(() => {
    const loop = () => {
      const start = performance.now();
      let sum = 0;
      for (let i = 0; i < 8_000_000; i++) sum = sum * 0.999 + i;
      return sum > 0 ? performance.now() - start : 0;
    };
    return Math.min(...Array.from({ length: 20 }, loop));
  });

/** Prints the table of `maps`. */
async function printMaps(name, page) {
  console.log(`\n| ${name}: ms of a map, best / median | ${LENGTHS.map((length) => `L = ${length}`).join(' | ')} |`);
  console.log(`|---|${'---|'.repeat(LENGTHS.length)}`);
  for (const [mechanism, choices] of Object.entries(MECHANISMS)) {
    const cells = [];
    for (const length of LENGTHS) {
      const times = await maps(page, length, choices);
      cells.push(`${percentile(times, 0).toFixed(1)} / ${percentile(times, 0.5).toFixed(1)}`);
    }
    console.log(`| ${mechanism} | ${cells.join(' | ')} |`);
  }
  console.log(`\nA plain loop of 8 million dependent multiply-adds took ${(await plainLoop(page)).toFixed(1)} ms at best.\n`);
}

/** Drags of each parameter in each build, in turns: latencies, GPU times, long tasks. */
async function drags(pages, source) {
  const results = Object.fromEntries(Object.keys(pages).map((build) => [build, {}]));
  for (const [key, choices] of Object.entries(DRAGS)) {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [build, page] of Object.entries(pages)) {
        await page.bringToFront();
        await show(page, `v=1&src=${source}&${choices}`);
        const { latencies, gpu, long } = await drag(page, key);
        const all = (results[build][key] ??= { latencies: [], gpu: [], long: long && [] });
        all.latencies.push(...latencies);
        all.gpu.push(...gpu);
        all.long?.push(...long);
      }
    }
  }
  return results;
}

/** One row of the table of drags. */
function row(title, first, results) {
  const all = Object.values(results);
  const cells = all.map(({ latencies }) => `${ms(percentile(latencies, 0.5))} / ${ms(percentile(latencies, 0.95))}`);
  const gpu = all.flatMap((result) => result.gpu);
  const frames = all.reduce((sum, { latencies }) => sum + latencies.length, 0);
  const long = all.flatMap((result) => (result.long ? [0, ...result.long] : []));
  const longest = long.length > 0 ? (Math.max(...long) === 0 ? '< 50' : ms(Math.max(...long))) : '–';
  const device = `${CPU ? `${ms(percentile(gpu, 0))} / ` : ''}${ms(percentile(gpu, 0.5))}`;
  return `| ${title} | ${ms(first)} | ${cells.join(' | ')} | ${device} | ${frames} | ${longest} |`;
}

const processors = cpus();
console.log(`
Machine: ${processors[0]?.model.trim() ?? 'unknown'}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release()}, load ${loadavg()[0].toFixed(1)} before the start
Date: ${new Date().toISOString().slice(0, 10)}. Times in ms; drags of ${STEPS} steps; latency = input event → presented frame.
`);
const header = () => {
  console.log(`| browser | text (L) | first map | drag w p50 / p95 | drag s p50 / p95 | drag r p50 / p95 | ${CPU ? 'CPU ms of a map (best / median)' : 'GPU ms (median)'} | frames | longest task |`);
  console.log('|---|---|---|---|---|---|---|---|---|');
};
if (!CPU) header();
const adapters = [];
const ratios = [];
const gates = [];
/** By link and build. */
const servers = {};
for (const [words, { link }] of Object.entries(LINKS)) {
  servers[words] = {};
  for (const [build, dir] of Object.entries(BUILDS)) servers[words][build] = await serve(dir, { link });
}
/** The same address in each build. */
const urls = (words, rest = '') => Object.fromEntries(Object.entries(servers[words]).map(([build, { url }]) => [build, url + rest]));
for (const name of wanted.length > 0 ? wanted : BROWSERS) {
  const browser = await launch(name, { gpu: !CPU });
  try {
    const version = await browser.version();
    const pages = {};
    for (const [build, url] of Object.entries(urls('no limit'))) {
      pages[build] = await openPage(browser, url, { viewport: DESK });
      const { adapter } = await ready(pages[build]);
      if (build === 'new') adapters.push(`${version}: ${adapter}`);
      // Background work of one page must not be timed with the start of another.
      await pages[build].evaluate(() => window.attnscope.settled());
    }
    if (CPU) {
      await printMaps(name, pages.new);
      header();
    }
    for (const [text, source] of Object.entries(TEXTS)) {
      const first = await firstMaps(browser, urls('no limit', `#v=1&src=${source}`), 3);
      const results = await drags(pages, source);
      for (const build of Object.keys(BUILDS)) {
        const title = `${name} | ${text}${options.dist ? `, ${build}` : ''}`;
        console.log(row(title, first[build], results[build]));
      }
      if (options.dist) {
        const p95 = (build, key) => percentile(results[build][key].latencies, 0.95);
        const pairs = [[first.new, first.old], ...Object.keys(DRAGS).map((key) => [p95('new', key), p95('old', key)])];
        ratios.push(`| ${name} | ${text} | ${pairs.map(([now, then]) => (now / then).toFixed(2)).join(' | ')} |`);
      }
    }
    if (CPU) continue;
    for (const [words, { gate, link }] of Object.entries(LINKS)) {
      // Once untimed: the server compresses each file when it first sends it.
      if (link) await firstMaps(browser, urls(words), 1);
      const first = await firstMaps(browser, urls(words), STARTS);
      const before = options.dist ? `${ms(first.old)} | ${(first.new / first.old).toFixed(2)} | ` : '';
      gates.push({ holds: first.new <= gate, row: `| ${name} | ${words} | ${ms(first.new)} | ${before}${gate} | ${first.new <= gate ? 'yes' : '**no**'} |` });
    }
  } finally {
    await browser.close();
  }
}
for (const server of Object.values(servers).flatMap((all) => Object.values(all))) await server.close();
if (options.dist) {
  console.log(`\n| new / old | text (L) | first map | drag w p95 | drag s p95 | drag r p95 |\n|---|---|---|---|---|---|\n${ratios.join('\n')}`);
}
if (gates.length > 0) {
  const before = options.dist ? ['old | new / old | ', '---|---|'] : ['', ''];
  console.log(`\nFirst map of the page as it opens, median of ${STARTS} starts, each with nothing in any cache; over the slow link files are\ncompressed (brotli, else gzip).\n`);
  console.log(`| browser | link | first map | ${before[0]}gate | holds |\n|---|---|---|${before[1]}---|---|\n${gates.map((gate) => gate.row).join('\n')}`);
}
console.log(`\n${adapters.join('\n')}`);
if (!gates.every((gate) => gate.holds)) process.exitCode = 1;
