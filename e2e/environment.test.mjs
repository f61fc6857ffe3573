// Hostile environments: storage and history that throw, a policy without WebAssembly, odd and changing
// pixel ratios, a hidden tab. There is a picture or a sentence, and the page goes on.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DESK, DIST, judge, judgePicture, launch, openPage, readMap, ready, show, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

/** Collects unhandled rejections from the start. */
const watchRejections = () => {
  globalThis.rejections = [];
  addEventListener('unhandledrejection', (event) => globalThis.rejections.push(String(event.reason)));
};

async function assertWhole(page, server) {
  assert.deepEqual(await page.evaluate(() => globalThis.rejections ?? []), [], 'unhandled rejections');
  assertQuiet(page, server.origin);
}

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let server;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());
    beforeEach(async () => {
      server = await serve(DIST);
    });
    afterEach(() => server?.close());

    test('storage and history that throw: everything but the address works', async () => {
      const page = await openPage(browser, server.url, {
        before: () => {
          globalThis.rejections = [];
          addEventListener('unhandledrejection', (event) => globalThis.rejections.push(String(event.reason)));
          const refuse = () => {
            throw new DOMException('refused by the test', 'SecurityError');
          };
          for (const store of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
            Object.defineProperty(globalThis, store, { get: refuse, configurable: true });
          }
          History.prototype.replaceState = refuse;
          History.prototype.pushState = refuse;
          Object.defineProperty(Document.prototype, 'cookie', { get: refuse, set: refuse, configurable: true });
        },
      });
      await assertComputes(page);
      const fragment = 'v=1&m=window&w=3';
      await judge(await show(page, fragment), fragment);
      await judgePicture(page, fragment);
      // Longer than the pause before the address follows.
      await new Promise((done) => setTimeout(done, 500));
      assert.equal(await page.evaluate(() => window.attnscope.scene()), 'v=1&m=window&w=3');
      await assertWhole(page, server);
      await page.close();
    });

    test('a policy without WebAssembly: a sentence says what is missing', async () => {
      server.headers = { 'Content-Security-Policy': "script-src 'self'" };
      for (const [lang, words] of [['en', /wasm-unsafe-eval/], ['zh', /wasm-unsafe-eval.*|策略/]]) {
        const page = await openPage(browser, server.url, { lang });
        await waitForProblem(page, words);
        await page.close();
      }
    });

    test('pixel ratios 1, 1.5, 2 and 3, and a change of them: the same numbers', async () => {
      const page = await openPage(browser, server.url, { before: watchRejections });
      await assertComputes(page);
      const first = await show(page, 'v=1&m=window&w=2');
      for (const deviceScaleFactor of [1.5, 2, 3, 1]) {
        await page.setViewport({ ...DESK, deviceScaleFactor });
        await page.waitForFunction((ratio) => devicePixelRatio === ratio, {}, deviceScaleFactor);
        const map = await readMap(page);
        assert.deepEqual(map.values, first.values, `pixel ratio ${deviceScaleFactor}`);
        await judgePicture(page, 'v=1&m=window&w=2');
      }
      await assertWhole(page, server);
      await page.close();
    });

    test('a tab that was in the background: what was set there is drawn when it comes back', async () => {
      const page = await openPage(browser, server.url, { before: watchRejections });
      await assertComputes(page);
      const other = await browser.newPage();
      await other.bringToFront();
      await page.evaluate(() => window.attnscope.set('v=1&m=window&w=1'));
      await new Promise((done) => setTimeout(done, 2_000));
      await page.bringToFront();
      await judge(await readMap(page), 'v=1&m=window&w=1');
      await judgePicture(page, 'v=1&m=window&w=1');
      await other.close();
      await assertWhole(page, server);
      await page.close();
    });

    test('an embed that was hidden draws when it is shown', async () => {
      const page = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=2`, { before: watchRejections });
      await ready(page);
      await page.evaluate(() => document.documentElement.style.setProperty('display', 'none'));
      await page.evaluate(() => window.attnscope.set('v=1&m=window&w=5'));
      await new Promise((done) => setTimeout(done, 300));
      await page.evaluate(() => document.documentElement.style.removeProperty('display'));
      await judge(await readMap(page), 'v=1&m=window&w=5');
      await judgePicture(page, 'v=1&m=window&w=5');
      await assertWhole(page, server);
      await page.close();
    });
  });
}
