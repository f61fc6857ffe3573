// A canvas that gives no texture for one frame is retried; one that never does is given up.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { PNG } from 'pngjs';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertGoesOn, assertQuiet, DIST, engine, judge, launch, openPage, readMap, show, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

/** `window.misses[selector]` is the number of times that the canvas will give no texture. */
const miss = () => {
  window.rejections = [];
  window.misses = {};
  window.missed = 0;
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  // The page's first retry after a loss waits until the test is over.
  const timeout = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => (ms === 1500 ? 0 : timeout.call(window, act, ms, ...rest));
  const texture = GPUCanvasContext.prototype.getCurrentTexture;
  GPUCanvasContext.prototype.getCurrentTexture = function () {
    const css = Object.keys(window.misses).find((selector) => window.misses[selector] > 0 && this.canvas.matches(selector));
    if (css) {
      window.misses[css] -= 1;
      window.missed += 1;
      throw new DOMException('made by the test', 'InvalidStateError');
    }
    return texture.call(this);
  };
};

const CANVASES = ['.map canvas', '.strip canvas', '.output-canvas'];
const FIRST = 'v=1&m=cjar&r=4&panel=output&head=3';
const SECOND = 'v=1&m=cjar&r=4&reading=softmax&inwin=1&w=2&panel=output&head=9';

/** The pixels of each canvas, as they are on screen. */
async function pictures(page) {
  const screen = PNG.sync.read(Buffer.from(await page.screenshot()));
  const places = await page.evaluate((all) => all.map((css) => document.querySelector(css).getBoundingClientRect().toJSON()), CANVASES);
  return places.map(({ x, y, width, height }) => {
    const pixels = [];
    for (let row = Math.ceil(y) + 2; row < y + height - 2; row++) {
      for (let col = Math.ceil(x) + 2; col < x + width - 2; col++) pixels.push(screen.data.readUInt32BE((row * screen.width + col) * 4));
    }
    return pixels.join();
  });
}

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

    test('a picture that found no texture for a frame, or for three, is drawn with a later one', async () => {
      const page = await openPage(browser, server.url, { before: miss, lang: 'en' });
      await assertComputes(page);
      await show(page, SECOND);
      const wanted = await pictures(page);
      await show(page, FIRST);
      const others = await pictures(page);
      CANVASES.forEach((css, at) => assert.notEqual(wanted[at], others[at], `${css} shows nothing of the scene`));
      for (const times of [1, 3]) {
        for (const css of CANVASES) {
          await show(page, FIRST);
          await page.evaluate((selector, count) => {
            window.missed = 0;
            window.misses = { [selector]: count };
          }, css, times);
          await show(page, SECOND);
          assert.equal(await page.evaluate(() => window.missed), times, `${css} was not drawn to`);
          const found = await pictures(page);
          CANVASES.forEach((other, at) => assert.ok(found[at] === wanted[at], `${css} without texture ${times}×: ${other} is not the scene's`));
        }
      }
      assert.equal((await engine(page)).state, 'gpu');
      await show(page, 'v=1&m=window&w=3');
      await assertGoesOn(page, server);
      await page.close();
    });

    test('a canvas that never gives a texture again: the CPU draws, and says why', async () => {
      const page = await openPage(browser, server.url, { before: miss, lang: 'en' });
      await assertComputes(page);
      await page.evaluate(() => (window.misses = { '.map canvas': Infinity }));
      const fragment = 'v=1&m=window&w=5';
      await page.evaluate((text) => window.attnscope.set(text), fragment);
      await waitForState(page, 'cpu');
      assert.match((await engine(page)).why, /gives no texture/);
      await judge(await readMap(page), fragment);
      assert.deepEqual(await page.evaluate(() => window.rejections), []);
      assertQuiet(page, server.origin);
      await page.close();
    });
  });
}
