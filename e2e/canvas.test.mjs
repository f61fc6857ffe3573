// A canvas that cannot be drawn to, at the start and later: the CPU draws, and the page says why. What
// was never drawn does not look masked.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertGoesOn, DIST, engine, judge, launch, openPage, problems, readMap, ready, show, waitForProblem, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = 'v=1&src=paragraph.1&m=window&w=7&head=3&cell=4.2';

/**
 * While `window.refused` names a way and a place, drawing to canvases there fails in that way. The
 * page's first retry after a loss waits until the test calls `window.soon`.
 */
const watch = () => {
  window.refused = null;
  window.states = [];
  window.rejections = [];
  window.devices = [];
  addEventListener('attnscope:state', (event) => window.states.push(event.detail));
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  const timeout = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => {
    if (ms !== 1500) return timeout.call(window, act, ms, ...rest);
    window.soon = act;
    return 0;
  };
  const is = (way, canvas) => window.refused?.way === way && (window.refused.place === '' || Boolean(canvas.closest?.(window.refused.place)));
  const get = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    if (kind === 'webgpu' && is('null', this)) return null;
    if (kind === 'webgpu' && is('throws', this)) throw new DOMException('refused by the test', 'OperationError');
    if (kind === '2d' && is('2d', this)) return null;
    return get.call(this, kind, ...rest);
  };
  for (const name of ['configure', 'getCurrentTexture']) {
    const real = globalThis.GPUCanvasContext?.prototype[name];
    if (!real) continue;
    GPUCanvasContext.prototype[name] = function (...args) {
      if (is(name, this.canvas)) throw new DOMException('refused by the test', 'OperationError');
      return real.apply(this, args);
    };
  }
  const request = globalThis.GPUAdapter?.prototype.requestDevice;
  if (!request) return;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await request.apply(this, args);
    window.devices.push(device);
    return device;
  };
};

const SAYS = {
  en: { badge: /^CPU · the graphics device cannot draw to the page/, why: /cannot draw to a canvas of this page/, retry: 'Try again' },
  zh: { badge: /^CPU · 图形设备无法在页面上绘制/, why: /无法在本页的画布上绘制/, retry: '重试' },
};

/** The button with which the reader retries the device. */
const AGAIN = '.engine button';

/** The CPU draws this Scene because a canvas cannot be drawn to, and the page says so. */
async function assertCpu(page, fragment, lang) {
  await waitForState(page, 'cpu');
  const { badge, why } = await engine(page);
  assert.match(badge, SAYS[lang].badge);
  assert.match(why, SAYS[lang].why);
  assert.equal(await problems(page), '');
  assert.equal(await page.evaluate(() => window.attnscope.scene()), fragment);
  await judge(await readMap(page), fragment);
  const colours = await page.evaluate(() =>
    ['.map canvas', '.strip canvas'].map((css) => {
      const canvas = document.querySelector(css);
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }),
  );
  for (const count of colours) assert.ok(count > 20, `${count} colours`);
}

/** Whether cells without a picture would look masked, on the map and on the strip. */
const hatched = (page) =>
  page.evaluate(() => ['.map > .hatch', '.map > .fully-masked', '.strip > .hatch'].map((css) => document.querySelector(css).checkVisibility()));

for (const name of BROWSERS) {
  describe(name, () => {
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

    const refusing = (way, place) => `(${watch})(); window.refused = ${JSON.stringify({ way, place })};`;

    // From the start, by way and place.
    const STARTS = [
      ['null', '', 'en'],
      ['null', '', 'zh'],
      ['null', '.map', 'en'],
      ['null', '.strip', 'zh'],
      ['throws', '', 'zh'],
      ['configure', '', 'en'],
      ['configure', '.strip', 'en'],
      ['getCurrentTexture', '.map', 'zh'],
    ];
    for (const [way, place, lang] of STARTS) {
      test(`${way} on ${place || 'every canvas'} from the start, ${lang}: the CPU draws and the reason is said`, async () => {
        const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: refusing(way, place), lang });
        assert.equal((await ready(page)).backend, 'CPU');
        await page.evaluate(() => window.attnscope.settled());
        await assertCpu(page, FRAGMENT, lang);
        await assertGoesOn(page, server);
        await page.close();
      });
    }

    test('a canvas that comes later and cannot be drawn to: the CPU draws all of them', async () => {
      const page = await openPage(browser, server.url, { before: `(${watch})();`, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      await page.evaluate(() => {
        window.refused = { way: 'null', place: '.output' };
      });
      const next = FRAGMENT.replace('&cell', '&panel=output&cell');
      await page.evaluate((text) => window.attnscope.set(text), next);
      await assertCpu(page, next, 'en');
      const drawn = await page.evaluate(() => {
        const canvas = document.querySelector('.output-canvas');
        return new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
      });
      assert.ok(drawn > 20, `${drawn} colours of the output`);
      await page.close();
    });

    test('a device that comes back and cannot draw: the CPU\'s picture stays; once it can, it draws', async () => {
      const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: refusing('configure', ''), lang: 'en' });
      await ready(page);
      await page.evaluate(() => window.attnscope.settled());
      await assertCpu(page, FRAGMENT, 'en');
      await page.evaluate(() => {
        document.querySelector('.map canvas').dataset.mark = 'kept';
        window.states.length = 0;
      });
      await page.click(AGAIN);
      await page.waitForFunction(() => window.states.at(-1) === 'cpu');
      assert.deepEqual(await page.evaluate(() => window.states), ['recovering', 'cpu']);
      assert.equal(await page.$eval('.map canvas', (canvas) => canvas.dataset.mark), 'kept');
      await assertCpu(page, FRAGMENT, 'en');
      await page.evaluate(() => {
        window.refused = null;
      });
      await page.click(AGAIN);
      await waitForState(page, 'gpu');
      await judge(await readMap(page), FRAGMENT);
      await assertGoesOn(page, server);
      await page.close();
    });

    for (const lang of ['en', 'zh']) {
      test(`no context of any kind, ${lang}: a sentence, and the picture when it is asked for again`, async () => {
        const without = 'Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined, configurable: true });';
        const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: `${without} ${refusing('2d', '')}`, lang });
        await waitForProblem(page, lang === 'en' ? /CPU engine cannot draw .*canvas/ : /CPU 引擎无法绘制/);
        assert.deepEqual(await hatched(page), [false, false, false]);
        await page.evaluate(() => {
          window.refused = null;
        });
        assert.equal(await page.$eval('.problem .retry', (button) => button.textContent.trim()), SAYS[lang].retry);
        await page.focus('.problem .retry');
        await page.keyboard.press('Enter');
        await page.waitForFunction(() => document.querySelector('.map').matches('.is-drawn'));
        await judge(await readMap(page), FRAGMENT);
        assert.equal(await problems(page), '');
        await assertGoesOn(page, server);
        await page.close();
      });
    }

    test('what is not drawn yet does not look masked: before the first picture, after a lost device', async () => {
      // Workers that never answer, so the CPU draws nothing.
      const silent = 'window.Worker = class extends window.Worker { postMessage(...args) { if (window.silent) return; super.postMessage(...args); } };';
      server.fault = (path) => (path.includes('/data/') ? { status: 404 } : null);
      const page = await openPage(browser, `${server.url}#v=1&m=window&w=1`, { before: `(${watch})(); ${silent}`, lang: 'en' });
      await ready(page);
      await waitForProblem(page, /404/);
      assert.deepEqual(await hatched(page), [false, false, false], 'before the first picture');
      server.fault = () => null;
      await page.click('.problem .retry');
      await page.evaluate(() => window.attnscope.settled());
      const masked = [true, false, true];
      assert.deepEqual(await hatched(page), masked, 'with a picture');
      await page.evaluate(() => {
        window.silent = true;
        window.devices.at(-1).destroy();
      });
      await waitForState(page, 'lost');
      assert.deepEqual(await hatched(page), [false, false, false], 'after the device is lost');
      await page.evaluate(() => window.soon());
      await waitForState(page, 'gpu');
      await page.evaluate(() => window.attnscope.settled());
      assert.deepEqual(await hatched(page), masked, 'with a picture again');
      await page.close();
    });

    test('what is not drawn yet does not look masked: a new size that the device has no time for', async () => {
      const hold = () => {
        window.held = [];
        const real = GPUQueue.prototype.onSubmittedWorkDone;
        GPUQueue.prototype.onSubmittedWorkDone = function (...args) {
          const answer = real.apply(this, args);
          return window.hold ? new Promise((done) => window.held.push(() => done(answer))) : answer;
        };
      };
      const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: `(${watch})(); (${hold})();`, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      assert.deepEqual(await hatched(page), [true, false, true]);
      // Another part of the map has another size in pixels.
      const next = FRAGMENT.replace('&cell', '&rect=0.0.40.40&cell');
      const width = (css) => page.$eval(css, (canvas) => canvas.width);
      const sized = (css, before) => page.waitForFunction((selector, wide) => document.querySelector(selector).width !== wide, {}, css, before);
      const before = { map: await width('.map canvas'), strip: await width('.strip canvas') };
      await page.evaluate((text) => {
        window.hold = true;
        window.attnscope.set(text);
      }, FRAGMENT.replace('w=7', 'w=9'));
      await page.waitForFunction(() => window.held.length > 0);
      await page.evaluate((text) => window.attnscope.set(text), next);
      await sized('.map canvas', before.map);
      assert.deepEqual(await hatched(page), [false, false, true], 'a map of a new size is empty');
      await page.setViewport({ width: 1000, height: 600 });
      await sized('.strip canvas', before.strip);
      assert.deepEqual(await hatched(page), [false, false, false], 'a strip of a new size is empty');
      await page.evaluate(() => {
        window.hold = false;
        window.held.forEach((answer) => answer());
      });
      await page.evaluate(() => window.attnscope.settled());
      assert.deepEqual(await hatched(page), [true, false, true]);
      await judge(await readMap(page), next);
      await page.close();
    });
  });
}
