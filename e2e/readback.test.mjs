// Numbers that are read back belong to the picture beside them, however late they arrive.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, judge, launch, openPage, readMap, reference, show, slider } from './harness.mjs';
import { serve } from './server.mjs';

/** Answers of the device, or of workers, wait in `window.held` while `window.hold` is set. */
const holdAnswers = () => {
  window.hold = false;
  window.held = [];
  window.verdicts = new Set();
  if (window.GPUBuffer) {
    const map = GPUBuffer.prototype.mapAsync;
    GPUBuffer.prototype.mapAsync = function (...args) {
      const answer = map.apply(this, args);
      return window.hold ? new Promise((done) => window.held.push(() => done(answer))) : answer;
    };
  }
  const { get, set } = Object.getOwnPropertyDescriptor(Worker.prototype, 'onmessage');
  Object.defineProperty(Worker.prototype, 'onmessage', {
    configurable: true,
    get,
    set(hear) {
      set.call(this, (event) => (window.hold ? window.held.push(() => hear(event)) : hear(event)));
    },
  });
  const note = () => document.querySelectorAll('.verdict').forEach((node) => window.verdicts.add(node.className));
  new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true });
};

const weight = (page) => page.$eval('.numbers .result td', (cell) => cell.textContent);

for (const name of BROWSERS) {
  for (const gpu of [true, false]) {
    describe(`${name} ${gpu ? 'with' : 'without'} WebGPU`, () => {
      let browser;
      let server;
      let page;
      before(async () => {
        server = await serve(DIST);
        browser = await launch(name, { gpu });
        page = await openPage(browser, server.url, { lang: 'en', before: holdAnswers });
        await assertComputes(page, gpu ? 'WebGPU' : 'CPU');
      });
      after(async () => {
        await browser?.close();
        await server?.close();
      });

      test('a cell that is read back while the window moves is never said to differ', async () => {
        const scene = (w) => `v=1&m=window&w=${w}&head=0&cell=12.11`;
        const [before, after] = await Promise.all([3, 4].map(async (w) => (await reference(scene(w))).cell.weight));
        assert.ok(Math.abs(before - after) > 0.01, `the window does not move the weight: ${before}, ${after}`);
        await show(page, scene(3));
        await page.waitForSelector('.drawn button');
        const first = await weight(page);
        await page.evaluate(() => (window.hold = true));
        await page.click('.drawn button');
        await page.waitForFunction(() => window.held.length > 0);
        await page.focus(slider('w'));
        await page.keyboard.press('ArrowRight');
        await page.waitForFunction((old) => document.querySelector('.numbers .result td')?.textContent !== old, {}, first);
        await page.evaluate(() => {
          window.hold = false;
          window.held.splice(0).forEach((go) => go());
        });
        // The reader asked for this cell: it is read from the new picture.
        await page.waitForSelector('.verdict');
        await page.evaluate(() => window.attnscope.settled());
        assert.equal(await page.evaluate(() => window.attnscope.scene()), scene(4));
        const drawn = Number(await page.$eval('.drawn-value', (value) => value.textContent));
        assert.ok(Math.abs(drawn - after) < 0.001, `${drawn}, but it is ${after}`);
        assert.deepEqual(await page.evaluate(() => [...window.verdicts]), ['verdict is-equal']);
      });

      test('a weight that was read back is not shown as that of a score', async () => {
        const scene = 'v=1&head=0&cell=3.2';
        await show(page, scene);
        await page.click('.drawn button');
        await page.waitForSelector('.verdict.is-equal');
        await show(page, `${scene}&map=score`);
        assert.equal(await page.$('.verdict'), null);
        await page.click('.drawn button');
        await page.waitForSelector('.verdict');
        const score = (await reference(scene)).cell.score;
        const drawn = Number((await page.$eval('.drawn-value', (value) => value.textContent)).replace('−', '-'));
        assert.ok(Math.abs(drawn - score) < 0.001, `${drawn}, but it is ${score}`);
        assert.ok(await page.$('.verdict.is-equal'));
      });

      test('a map that is read at once is that of the scene that was just set, however long its tensors travel', async () => {
        for (const seed of [1, 2]) {
          const part = `v=1&src=random.9000.${seed}&m=window&w=20&rect=4000.3990.40.60`;
          await judge(await readMap(page, { atOnce: part }), part);
          const short = 'v=1&src=sentence.2&m=window&w=3';
          await judge(await readMap(page, { atOnce: short }), short);
        }
      });

      test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
    });
  }
}
