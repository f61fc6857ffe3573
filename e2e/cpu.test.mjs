// The CPU engine: without WebGPU, after a lost device, and while the browser does not answer.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, engine, judge, judgePicture, launch, openPage, problems, readMap, show, slider, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

const MECHANISMS = {
  full: '',
  window: '&m=window&w=4&sinks=1',
  'strict past, dilated': '&m=window&conv=explicit&left=9&right=-1&dil=2',
  'cjar, bias reading': '&m=cjar&reading=bias&pk=0.7&s=1.5&s.decay=0.3',
  'cjar, product reading in a window': '&m=cjar&reading=product&inwin=1&w=9&causal=1&s=0.8&s.slope=0.05&pk=0.4&pk.each=0',
  'cjar, softmax in segments, score rank': '&m=cjar&reading=softmax&seg=16&pk=0.5&pk.shape=sinusoidal&rho=5',
};

/** Pixels of a 2D canvas: its size, how many colours, and whether its halves are the same. */
const picture = (page, css) =>
  page.evaluate((selector) => {
    const canvas = document.querySelector(selector);
    const { width, height } = canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
    const pixels = new Uint32Array(data.buffer);
    const half = Math.floor((height - 2) / 2) * width;
    const upper = pixels.subarray(0, half);
    const lower = pixels.subarray(pixels.length - half);
    return { width, height, colours: new Set(pixels).size, same: upper.every((pixel, at) => pixel === lower[at]) };
  }, css);

/** Records every state of the engine, every unhandled rejection, and every device. */
const watch = () => {
  window.states = [];
  window.rejections = [];
  window.devices = [];
  addEventListener('attnscope:state', (event) => window.states.push(event.detail));
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await request.apply(this, args);
    window.devices.push(device);
    return device;
  };
};

for (const name of BROWSERS) {
  describe(`${name} without WebGPU`, () => {
    let browser;
    let server;
    let page;
    before(async () => {
      server = await serve(DIST);
      browser = await launch(name, { gpu: false });
      page = await openPage(browser, server.url, { lang: 'en' });
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    test('it draws, and says with what and why', async () => {
      await assertComputes(page, 'CPU');
      const { state, badge, why } = await engine(page);
      assert.equal(state, 'cpu');
      assert.match(badge, /^CPU · no /);
      assert.match(why, /the CPU computes and draws/);
      assert.equal(await problems(page), '');
      await judgePicture(page, 'v=1');
    });

    for (const [mechanism, choices] of Object.entries(MECHANISMS)) {
      test(`${mechanism}: every cell is the reference's`, async () => {
        for (const source of ['sentence.1', 'paragraph.2']) {
          const fragment = `v=1&src=${source}${choices}&head=5`;
          await judge(await show(page, fragment), fragment);
          await judgePicture(page, fragment);
        }
      });
    }

    test('512 tokens, a rectangle, raw scores: every cell is the reference\'s', async () => {
      for (const rest of ['&m=window&w=40&rect=200.180.160.200', '&rect=0.0.9.512', '&m=full&map=score&head=11&rect=3.5.7.11']) {
        const fragment = `v=1&src=page.1${rest}`;
        await judge(await show(page, fragment), fragment);
      }
    });

    test('dragging the window slider ends in the state of the last event', async () => {
      await show(page, 'v=1&src=paragraph.1&m=window&w=2');
      const frames = await page.evaluate(() => window.attnscope.frames());
      const handle = await page.waitForSelector(slider('w'));
      const box = await handle.boundingBox();
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + 3, y);
      await page.mouse.down();
      for (let step = 1; step <= 30; step++) await page.mouse.move(box.x + 3 + ((box.width - 6) * step) / 40, y);
      await page.mouse.up();
      const map = await readMap(page);
      const seen = await page.evaluate(() => ({
        fragment: window.attnscope.scene(),
        frames: window.attnscope.frames(),
        latencies: window.attnscope.latencies(),
      }));
      assert.ok(Number(new URLSearchParams(seen.fragment).get('w')) > 2, seen.fragment);
      assert.ok(seen.frames > frames && seen.latencies.length > 0);
      await judge(map, seen.fragment);
    });

    test('the strip shows every head, and a click on one chooses it', async () => {
      await show(page, 'v=1&src=sentence.1');
      const { colours } = await picture(page, '.strip canvas');
      assert.ok(colours > 50, `${colours} colours`);
      await page.click('.strip button:nth-of-type(4)');
      const map = await readMap(page);
      const fragment = await page.evaluate(() => window.attnscope.scene());
      assert.match(fragment, /head=3/);
      await judge(map, fragment);
      await judgePicture(page, fragment);
    });

    test('the inspector finds its number in the picture', async () => {
      await show(page, 'v=1&src=sentence.1&panel=cell&cell=3.2');
      const button = await page.waitForSelector('.drawn button');
      await button.click();
      await page.waitForSelector('.verdict');
      assert.ok(await page.$('.verdict.is-equal'), 'the verdict is not "equal"');
    });

    test('the output beside its low-rank twin, with the numbers of every rank', async () => {
      await show(page, 'v=1&src=sentence.1&m=cjar&r=8&panel=output');
      const report = await page.evaluate(() => {
        const { component_energy: parts, output_energy: all, map_range: range, gpu_ms: ms } = window.attnscope.report();
        return { parts: parts.length, finite: parts.every(Number.isFinite), all, range, ms };
      });
      assert.deepEqual([report.parts, report.finite], [384, true]);
      assert.ok(report.all > 0 && report.ms >= 0);
      assert.ok(report.range[1] > report.range[0]);
      const cut = await picture(page, '.output-canvas');
      assert.ok(cut.colours > 30 && !cut.same, `rank 8: ${JSON.stringify(cut)}`);
      await show(page, 'v=1&src=sentence.1&m=cjar&panel=output');
      assert.ok((await picture(page, '.output-canvas')).same, 'without a rank both are the same');
    });

    test('a long map makes way for a newer one', async () => {
      await page.evaluate(() => window.attnscope.set('v=1&src=random.4096.1'));
      await page.waitForFunction(() => window.attnscope.frames() > 0 && document.querySelector('.map canvas').width > 100);
      const fragment = 'v=1&src=sentence.2&m=window&w=3';
      await judge(await show(page, fragment), fragment);
      const long = await show(page, 'v=1&src=random.2048.1');
      // Texels of several cells: none exceeds 1, and every row of them has some weight.
      assert.ok(long.rows > 100 && long.values.every((value) => value > 0 && value <= 1));
    });

    test('a coarse map is marked as one, with its share, and nothing old is shown as its own', async () => {
      await show(page, 'v=1&src=sentence.1');
      await page.evaluate(() => {
        window.seen = { marks: new Set(), numbers: new Set(), times: new Set(), late: new Set() };
        const text = (selector) => document.querySelector(selector).textContent;
        const look = () => {
          if (text('.legend-bar')) {
            window.seen.marks.add(`${text('.legend-bar')} | ${document.querySelector('.legend').ariaLabel}`);
            window.seen.numbers.add(text('.legend-number.low'));
            window.seen.times.add(text('.time'));
          }
          const strip = document.querySelector('.strip');
          if (strip.ariaBusy === 'true') window.seen.late.add(getComputedStyle(strip.querySelector('canvas')).opacity);
        };
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
        window.attnscope.set('v=1&src=random.16384.1');
      });
      await page.waitForFunction(() => window.seen.marks.size > 2 && window.seen.late.size > 0, { timeout: 120_000 });
      const fragment = 'v=1&src=sentence.2&m=window&w=3';
      await judge(await show(page, fragment), fragment);
      const seen = await page.evaluate(() => Object.fromEntries(Object.entries(window.seen).map(([key, set]) => [key, [...set]])));
      for (const mark of seen.marks) assert.match(mark, /^coarse: \d+\s% \| .* coarse: \d+\s%$/);
      assert.deepEqual([seen.numbers, seen.times], [['–'], ['–']]);
      assert.ok(seen.late.every((opacity) => opacity < 0.5), seen.late.join());
      const after = await page.evaluate(() => ({
        mark: document.querySelector('.legend-bar').textContent,
        late: document.querySelector('.strip').ariaBusy,
        time: document.querySelector('.time').textContent,
      }));
      assert.deepEqual([after.mark, after.late], ['', 'false']);
      assert.match(after.time, / ms$/);
    });

    test('P_K of 9,000 tokens, made by the compute worker: every cell of a part is the reference\'s', async () => {
      const fragment = 'v=1&src=random.9000.1&m=cjar&inwin=1&w=20&pk=0.7&pk.seed=5&rect=4000.3990.40.60';
      await judge(await show(page, fragment), fragment);
    });

    test('a random s of 512 tokens, made by the compute worker: every cell is the reference\'s, and the inspector\'s', async () => {
      const fragment = 'v=1&src=page.1&m=cjar&reading=bias&s=1.5&s.dense=1&s.seed=3&head=2&panel=cell&cell=7.9';
      await judge(await show(page, fragment), fragment);
      const button = await page.waitForSelector('.drawn button');
      await button.click();
      await page.waitForSelector('.verdict.is-equal');
    });

    test('the embed says so too', async () => {
      const embed = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=3&show=window`, { lang: 'zh' });
      await assertComputes(embed, 'CPU');
      assert.match((await engine(embed)).badge, /CPU · .*WebGPU|CPU · .*适配器/);
      assertQuiet(embed, server.origin);
      await embed.close();
    });

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });

  describe(`${name} with WebGPU that goes`, () => {
    let browser;
    let server;
    before(async () => {
      server = await serve(DIST);
      browser = await launch(name);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    const FRAGMENT = 'v=1&src=paragraph.1&m=window&w=7&head=3&cell=4.2';

    /** Loses the device by `act`: the CPU draws the same Scene, and then the device again. */
    async function loseAndRecover(act) {
      const page = await openPage(browser, server.url, { before: watch, lang: 'en' });
      await assertComputes(page);
      await judge(await show(page, FRAGMENT), FRAGMENT);
      await act(page);
      await waitForState(page, 'cpu');
      // On a busy machine the 1.5 s until the device is asked for again may be over by now.
      assert.match((await engine(page)).badge, /^CPU · (the graphics device was lost|asking for the graphics device again)/);
      // What is chosen while the CPU draws survives the way back too.
      assert.equal(await page.evaluate(() => window.attnscope.scene()), FRAGMENT);
      await judge(await readMap(page), FRAGMENT);
      const next = FRAGMENT.replace('w=7', 'w=9');
      await page.evaluate((text) => window.attnscope.set(text), next);
      await waitForState(page, 'gpu');
      await assert.doesNotReject(page.evaluate(() => window.attnscope.settled()));
      assert.equal(await page.evaluate(() => window.attnscope.scene()), next);
      await judge(await readMap(page), next);
      assert.equal((await page.evaluate(() => window.attnscope.ready())).backend, 'WebGPU');
      const states = await page.evaluate(() => window.states);
      assert.deepEqual(states.slice(states.indexOf('gpu')), ['gpu', 'lost', 'cpu', 'recovering', 'gpu']);
      assert.deepEqual(await page.evaluate(() => window.rejections), []);
      const panics = page.errors.filter((text) => /panicked|unreachable|RuntimeError|uncaught/i.test(text));
      assert.deepEqual(panics, []);
      assert.equal(await problems(page), '');
      await page.close();
    }

    test('a destroyed device: the CPU draws, then the device again', () =>
      loseAndRecover((page) => page.evaluate(() => window.devices.at(-1).destroy())));

    if (name === 'chromium') {
      test('a graphics process that dies: the CPU draws, then the device again', () =>
        loseAndRecover(async () => {
          const session = await browser.target().createCDPSession();
          // The reply may die with the process.
          await session.send('Browser.crashGpuProcess').catch(() => {});
        }));
    }

    test('an adapter that never comes: the CPU draws after five seconds', async () => {
      const page = await openPage(browser, server.url, {
        lang: 'en',
        before: () => {
          GPU.prototype.requestAdapter = () => new Promise(() => {});
        },
      });
      await waitForState(page, 'probing');
      await assertComputes(page, 'CPU');
      assert.match((await engine(page)).badge, /does not answer/);
      assert.equal(await problems(page), '');
      assertQuiet(page, server.origin);
      await page.close();
    });

    test('a device that comes late is taken', async () => {
      const page = await openPage(browser, server.url, {
        lang: 'en',
        before: () => {
          const request = GPU.prototype.requestAdapter;
          GPU.prototype.requestAdapter = function (...args) {
            return new Promise((done) => {
              (window.answers ??= []).push(() => done(request.apply(this, args)));
            });
          };
        },
      });
      await waitForState(page, 'cpu');
      await judge(await show(page, FRAGMENT), FRAGMENT);
      await page.evaluate(() => window.answers.forEach((answer) => answer()));
      await waitForState(page, 'gpu');
      await judge(await readMap(page), FRAGMENT);
      assertQuiet(page, server.origin);
      await page.close();
    });
  });
}
