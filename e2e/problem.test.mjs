// What can go wrong: each time there is a sentence in the reader's language, controls that stay, no
// panic.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, DIST, engine, judge, judgePicture, launch, openPage, problems, ready, show, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

/** Each way to have no WebGPU, as code that runs before the page, and the expected words. */
const WITHOUT_GPU = {
  'no WebGPU at all': {
    before: () => {
      delete Navigator.prototype.gpu;
      Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined, configurable: true });
    },
    en: /WebGPU/,
    zh: /WebGPU.*[\u4e00-\u9fff]|[\u4e00-\u9fff].*WebGPU/,
  },
  'no adapter': {
    before: () => {
      GPU.prototype.requestAdapter = async () => null;
    },
    en: /adapter|graphics/i,
    zh: /适配器|显卡|图形/,
  },
  'no device': {
    before: () => {
      GPUAdapter.prototype.requestDevice = async () => {
        throw new DOMException('refused by the test', 'OperationError');
      };
    },
    en: /device|graphics/i,
    zh: /设备|适配器/,
  },
};

/** The reader can still choose things. */
async function assertControlsStay(page) {
  const controls = await page.evaluate(
    () => [...document.querySelectorAll('button, select, input')].filter((it) => it.getClientRects().length > 0 && !it.disabled).length,
  );
  assert.ok(controls >= 5, `only ${controls} controls are left`);
}

const assertNoPanic = (page) => {
  const panics = page.errors.filter((text) => /panicked|unreachable|RuntimeError|uncaught/i.test(text));
  assert.deepEqual(panics, []);
};

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

    for (const [what, { before: prepare, en, zh }] of Object.entries(WITHOUT_GPU)) {
      test(`${what}: the CPU draws, the reason is said in both languages, the controls stay`, async () => {
        for (const [lang, words] of [['en', en], ['zh', zh]]) {
          const page = await openPage(browser, server.url, { before: prepare, lang });
          await assertComputes(page, 'CPU');
          const { state, badge, why } = await engine(page);
          assert.equal(state, 'cpu');
          assert.match(badge, /CPU/);
          assert.match(why, words);
          assert.equal(await problems(page), '');
          await assertControlsStay(page);
          assertNoPanic(page);
          await page.close();
        }
      });
    }

    const DATA = /\/data\//;
    const FAULTS = {
      'a data file that is missing': { fault: { status: 404 }, words: /404/ },
      'a data file that is cut short': { fault: { cut: 0.5 }, words: /cut short|incomplete|damaged|not what|broken/i },
      'a connection that breaks off': { fault: { abort: 0.5 }, words: /connection|network|answer|cut short|incomplete|damaged|broken/i },
    };
    for (const [what, { fault, words }] of Object.entries(FAULTS)) {
      test(`${what}: said, the last picture stays, another choice works`, async () => {
        const page = await openPage(browser, server.url, { lang: 'en' });
        await assertComputes(page);
        server.fault = (path) => (DATA.test(path) ? fault : null);
        await page.evaluate(() => window.attnscope.set('v=1&src=paragraph.3'));
        await waitForProblem(page, words);
        await assertControlsStay(page);
        await judgePicture(page, 'v=1');
        server.fault = () => null;
        await judge(await show(page, 'v=1&src=paragraph.2'), 'v=1&src=paragraph.2');
        assertNoPanic(page);
        await page.close();
      });
    }

    test('too long a sequence: a sentence or a picture, and the page goes on', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await assertComputes(page);
      await page.evaluate(() => window.attnscope.set('v=1&src=random.4294967295.1'));
      const fragment = 'v=1&src=random.32.1';
      await page.evaluate((text) => window.attnscope.set(text), fragment);
      await judge(await show(page, fragment), fragment);
      await judgePicture(page, fragment);
      assertNoPanic(page);
      await page.close();
    });

    test('a canvas of size zero: nothing panics, and it comes back', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await assertComputes(page);
      await page.evaluate(() => {
        document.body.style.setProperty('display', 'none');
      });
      await page.evaluate(() => window.attnscope.set('v=1&m=window&w=3'));
      await new Promise((done) => setTimeout(done, 300));
      await page.evaluate(() => document.body.style.removeProperty('display'));
      await judge(await show(page, 'v=1&m=window&w=4'), 'v=1&m=window&w=4');
      await judgePicture(page, 'v=1&m=window&w=4');
      assertNoPanic(page);
      await page.close();
    });

    // The page's own code does not load: www/boot.js speaks.
    const BOOT = {
      'its WebAssembly is missing': { path: /\.wasm$/, fault: { status: 404 }, en: /404/, zh: /未能载入/ },
      'its WebAssembly is cut short': { path: /\.wasm$/, fault: { cut: 0.5 }, en: /damaged/, zh: /损坏/ },
      'its script is missing': { path: /attnscope-\w+\.js$/, fault: { status: 404 }, en: /could not be loaded/, zh: /未能载入/ },
    };
    for (const [what, { path: which, fault, en, zh }] of Object.entries(BOOT)) {
      test(`the page says when ${what}`, async () => {
        server.fault = (path) => (which.test(path) ? fault : null);
        for (const [lang, words] of [['en', en], ['zh', zh]]) {
          const page = await openPage(browser, server.url, { lang });
          await waitForProblem(page, words);
          await page.close();
        }
      });
    }

    // The Firefox that tests drive lets pages opened as files load files.
    if (name === 'chromium') {
      test('the page says when it is opened as a file', async () => {
        const page = await browser.newPage();
        for (const file of ['index', 'check']) {
          await page.goto(`${pathToFileURL(join(DIST, `${file}.html`)).href}?lang=en`);
          await waitForProblem(page, /opened as a file.*Serve its folder/);
        }
        await page.close();
      });
    }

    test('WebAssembly under a wrong type still starts', async () => {
      server.fault = (path) => (path.endsWith('.wasm') ? { type: 'application/octet-stream' } : null);
      const page = await openPage(browser, server.url);
      await ready(page);
      await page.close();
    });
  });
}
