// The page's own code stops: a panic, a trap. There is a sentence, a report that says nothing about the
// reader, and a way to go on with the same Scene.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertGoesOn, DIST, judge, judgePicture, launch, openPage, readMap, ready, show, waitForProblem, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = 'v=1&src=paragraph.1&m=window&w=7&head=3';

/**
 * Once `window.broken` is set, the browser refuses every buffer with an exception, which wgpu considers
 * impossible: the page's code panics. The page knows nothing of the test.
 */
const breakable = () => {
  window.rejections = [];
  window.states = [];
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  addEventListener('attnscope:state', (event) => window.states.push(event.detail));
  const create = GPUDevice.prototype.createBuffer;
  GPUDevice.prototype.createBuffer = function (...args) {
    if (window.broken) throw new RangeError(`refused by the test at ${location.href}`);
    return create.apply(this, args);
  };
};

const SAYS = {
  en: { sentence: /The page has stopped/, restart: 'Restart from here', copy: 'Copy the report' },
  zh: { sentence: /页面因自身错误而停止/, restart: '从此处重新开始', copy: '复制报告' },
};

/** Checks the screen after the code has stopped; then presses the button that goes on. */
async function assertStopped(page, server, lang, what) {
  const { sentence, restart, copy } = SAYS[lang];
  await waitForState(page, 'panicked');
  await waitForProblem(page, sentence);
  const seen = await page.evaluate(() => ({
    states: window.states,
    report: document.querySelector('#boot-problem textarea').value,
    name: document.querySelector('#boot-problem textarea').ariaLabel,
    buttons: [...document.querySelectorAll('#boot-problem button')].map((it) => it.textContent),
    inert: document.querySelector('.app').closest('[inert]') !== null,
    map: document.querySelector('.map canvas').getClientRects().length,
  }));
  assert.deepEqual(seen.states.slice(-2), ['gpu', 'panicked']);
  assert.deepEqual(seen.buttons, [restart, copy]);
  assert.equal(seen.name, copy);
  assert.ok(seen.inert, 'controls of code that has stopped can still be used');
  assert.equal(seen.map, 1, 'the last picture is gone');
  await judgePicture(page, FRAGMENT);
  assert.match(seen.report, what);
  assert.ok(seen.report.includes(`\n${FRAGMENT}`), seen.report);
  for (const secret of ['somebody', server.origin, '127.0.0.1', 'http']) {
    assert.ok(!seen.report.includes(secret), `the report tells ${secret}: ${seen.report}`);
  }
  // By keyboard: the way on comes first in the tab order.
  await page.focus('#boot-problem button');
  // The address is written before the page reloads, and a browser's driver may take that for the
  // navigation: only a page without this mark is the new one.
  await page.evaluate(() => {
    window.stopped = true;
  });
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => !window.stopped && Boolean(window.attnscope));
  await ready(page);
  assert.equal(await page.evaluate(() => window.attnscope.scene()), FRAGMENT);
  await judge(await readMap(page), FRAGMENT);
  // The page's message for developers, and the trap itself.
  page.errors = page.errors.filter((text) => !/panicked|unreachable|RuntimeError|memory access/.test(text));
  await assertGoesOn(page, server);
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

    for (const lang of ['en', 'zh']) {
      test(`a panic, ${lang}: a sentence, a report without the reader, and the same Scene again`, async () => {
        const page = await openPage(browser, `${server.url}?user=somebody#v=1&name=somebody`, { before: breakable, lang });
        await assertComputes(page);
        await show(page, FRAGMENT);
        await page.evaluate(() => {
          window.broken = true;
          window.attnscope.set('v=1&src=paragraph.1&m=window&w=6&head=3');
          window.attnscope.set('v=1&src=paragraph.1&m=window&w=7&head=3');
        });
        await assertStopped(page, server, lang, /^attnscope \d+\.\d+\.\d+: panicked at .*refused by the test/);
        await page.close();
      });
    }

    test('a trap that is no panic is said as well', async () => {
      const page = await openPage(browser, server.url, { before: breakable, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      await page.evaluate(() => {
        const error = new WebAssembly.RuntimeError('memory access out of bounds');
        dispatchEvent(new ErrorEvent('error', { error }));
      });
      await assertStopped(page, server, 'en', /^memory access out of bounds/);
      await page.close();
    });

    test('an error of somebody else on the page stops nothing', async () => {
      const page = await openPage(browser, server.url, { before: breakable, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      await page.evaluate(() => dispatchEvent(new ErrorEvent('error', { error: new TypeError('of an extension') })));
      await assertGoesOn(page, server);
      await page.close();
    });
  });
}
