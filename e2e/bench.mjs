// Times the page, per browser and text, and prints a Markdown table. No limits are enforced here:
// times depend on the machine. `node bench.mjs cpu` times the CPU engine: browsers without WebGPU.
import { cpus, loadavg, platform, release, totalmem } from 'node:os';

import { BROWSERS } from './browsers.mjs';
import { DESK, DIST, launch, openPage, ready, show, slider } from './harness.mjs';
import { serve } from './server.mjs';

const CPU = process.argv.includes('cpu');
/** A source by the words in which the table names it. */
const TEXTS = {
  'sentence (24)': 'sentence.1',
  'paragraph (120)': 'paragraph.1',
  'page (512)': 'page.1',
  // A graphics device draws longer ones too; there the three texts say enough.
  ...(CPU ? { 'made-up (2048)': 'random.2048.1' } : {}),
};
const STEPS = 120;
/** What is dragged, and a scene in which it acts. */
const DRAGS = {
  w: 'm=window&w=2',
  s: 'm=cjar&reading=bias&s=0.1&s.decay=0.3',
  r: 'm=cjar&r=8&panel=output',
};

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
/** The nearest-rank percentile. */
const percentile = (numbers, share) => sorted(numbers)[Math.max(0, Math.ceil(share * numbers.length) - 1)];
const ms = (number) => (number === undefined || number === null ? '–' : number.toFixed(number < 10 ? 1 : 0));

/** Milliseconds from navigation to the first map, in a page that nothing was loaded in before: the median of three. */
async function firstMap(browser, url) {
  const times = [];
  for (let run = 0; run < 3; run++) times.push(await firstMapOnce(browser, url));
  return percentile(times, 0.5);
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
 * One drag over the whole slider with the real pointer: latencies of every presented frame, GPU
 * times, long tasks. Latencies count from the time stamp of the newest input event that a frame
 * shows to the first turn of the page that finds it finished: an animation frame, or the input event
 * that begins one.
 */
async function drag(page, key) {
  const input = await page.waitForSelector(slider(key), { timeout: 30_000 });
  await input.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  await page.evaluate(() => {
    const watch = { gpu: [], long: null };
    // Firefox has no long-task entries; there the column stays empty.
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

/** What a map costs in the CPU engine's worker, by length and mechanism: best and median of many. */
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

/** Milliseconds of 8 million dependent multiply-adds in plain JavaScript: what this machine is now. */
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

/** The table of `maps`. */
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

const wanted = process.argv.slice(2).filter((word) => word !== 'cpu');
for (const name of wanted) {
  if (!BROWSERS.includes(name)) {
    console.error(`'${name}' is not one of ${BROWSERS.join(', ')}`);
    process.exit(1);
  }
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
const server = await serve(process.env.DIST ?? DIST);
for (const name of wanted.length > 0 ? wanted : BROWSERS) {
  const browser = await launch(name, { gpu: !CPU });
  try {
    const version = await browser.version();
    const page = await openPage(browser, server.url, { viewport: DESK });
    const { adapter } = await ready(page);
    adapters.push(`${version}: ${adapter}`);
    // What the page does when it is at rest must not be timed with another one's start.
    await page.evaluate(() => window.attnscope.settled());
    if (CPU) {
      await printMaps(name, page);
      header();
    }
    for (const [text, source] of Object.entries(TEXTS)) {
      const first = await firstMap(browser, `${server.url}#v=1&src=${source}`);
      const cells = [];
      const gpu = [];
      const long = [];
      let frames = 0;
      for (const [key, choices] of Object.entries(DRAGS)) {
        await show(page, `v=1&src=${source}&${choices}`);
        const result = await drag(page, key);
        cells.push(`${ms(percentile(result.latencies, 0.5))} / ${ms(percentile(result.latencies, 0.95))}`);
        frames += result.latencies.length;
        gpu.push(...result.gpu);
        if (result.long) long.push(0, ...result.long);
      }
      const longest = long.length > 0 ? (Math.max(...long) === 0 ? '< 50' : ms(Math.max(...long))) : '–';
      const device = `${CPU ? `${ms(percentile(gpu, 0))} / ` : ''}${ms(percentile(gpu, 0.5))}`;
      console.log(`| ${name} | ${text} | ${ms(first)} | ${cells.join(' | ')} | ${device} | ${frames} | ${longest} |`);
    }
  } finally {
    await browser.close();
  }
}
await server.close();
console.log(`\n${adapters.join('\n')}`);
