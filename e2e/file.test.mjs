// Damaged files: the page names each of them, and no trace stays once the server is well again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertGoesOn, built, DIST, judge, launch, openPage, problems, readMap, ready, slider, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = 'v=1&src=sentence.1&m=window&w=3&head=8';
const SIGN_IN = { body: '<!DOCTYPE html><html><title>Sign in</title><p>Please sign in to use this network.', type: 'text/html' };

const watch = () => {
  window.rejections = [];
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
};

const file = (name) => readFileSync(join(DIST, built('data'), 'minilm', `${name}.safetensors`));

/** Kinds of damage: what the server sends for a file, given a file of the same kind from another layer. */
const DAMAGES = {
  'a page to sign in': () => SIGN_IN,
  'no byte': () => ({ body: '' }),
  'half of it': (name) => ({ body: file(name).subarray(0, file(name).length / 2) }),
  'one byte too few': (name) => ({ body: file(name).subarray(0, file(name).length - 1) }),
  'one byte too many': (name) => ({ body: Buffer.concat([file(name), Buffer.from([0])]) }),
  'a header that is no JSON': (name) => {
    const bytes = Buffer.from(file(name));
    bytes[8] = 0x5b;
    return { body: bytes };
  },
  'another shape': (name) => {
    const bytes = Buffer.from(file(name));
    const [from, to] = name.includes('.x') ? ['[24,384]', '[384,24]'] : ['[384,384]', '[768,192]'];
    bytes.write(to, bytes.indexOf(from));
    return { body: bytes };
  },
  'the file of another layer': (_, other) => ({ body: file(other) }),
};

/** The Scene's files, each with its counterpart from another layer. */
const FILES = { 'sentence.x1': 'sentence.x2', 'layer1.qk': 'layer2.qk', 'layer1.vo': 'layer2.vo' };

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

    /** The page after the damage is mended. */
    async function assertWell(page) {
      await page.waitForFunction(() => window.attnscope.summary() !== null);
      await judge(await readMap(page), await page.evaluate(() => window.attnscope.scene()));
      assert.equal(await problems(page), '');
      // The browser itself logs an answer of 404.
      page.errors = page.errors.filter((text) => !/404/.test(text));
      await assertGoesOn(page, server);
    }

    for (const [damaged, other] of Object.entries(FILES)) {
      test(`${damaged} damaged alone, in each way: it is the one that is named; then it is well`, async () => {
        const page = await openPage(browser, 'about:blank');
        await page.evaluateOnNewDocument(watch);
        let sent = 0;
        let kind = null;
        server.fault = (path) => {
          if (!kind || !path.endsWith(`/${damaged}.safetensors`)) return null;
          sent += 1;
          return DAMAGES[kind](damaged, other);
        };
        for (kind of Object.keys(DAMAGES)) {
          const before = sent;
          if (before === 0) await page.goto(`${server.url}?lang=en#${FRAGMENT}`);
          else await page.click('.problem .retry');
          const said = await waitForProblem(page, /is damaged/);
          assert.ok(said.includes(`minilm/${damaged}.safetensors`), `${kind}: ${said}`);
          for (const innocent of Object.keys(FILES)) {
            assert.ok(innocent === damaged || !said.includes(innocent), `${kind}: ${said}`);
          }
          assert.equal((await page.$$('.problem')).length, 1);
          assert.equal(sent, before + 1, `${kind}: not fetched again`);
        }
        kind = null;
        await page.click('.problem .retry');
        await assertWell(page);
        await page.close();
      });
    }

    test('the file of the first picture damaged alone costs nothing', async () => {
      server.fault = (path) => (path.includes('/first.') ? SIGN_IN : null);
      const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: watch, lang: 'en' });
      await assertWell(page);
      await page.close();
    });

    const SAYS = {
      en: { words: /damaged .*sign in/, retry: 'Try again' },
      zh: { words: /已损坏.*登录/, retry: '重试' },
    };
    for (const [lang, { words, retry }] of Object.entries(SAYS)) {
      test(`a page to sign in instead of every file, ${lang}: the button asks again, past what the browser kept`, async () => {
        server.fault = (path) => (path.includes('/data/') ? SIGN_IN : null);
        server.headers = { 'Cache-Control': 'max-age=3600' };
        const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: watch, lang });
        await waitForProblem(page, words);
        server.fault = () => null;
        assert.equal(await page.$eval('.problem .retry', (button) => button.textContent.trim()), retry);
        // By keyboard: Tab reaches it, and a key presses it.
        await page.evaluate(() => document.querySelector('.status').querySelectorAll('button, a').forEach((it) => it.blur()));
        for (let step = 0; step < 200; step++) {
          await page.keyboard.press('Tab');
          if (await page.evaluate(() => document.activeElement.matches('.problem .retry'))) break;
        }
        assert.ok(await page.evaluate(() => document.activeElement.matches('.problem .retry')), 'not reached by Tab');
        await page.keyboard.press('Enter');
        await assertWell(page);
        await page.close();
      });
    }

    test('a page to sign in instead of every file: the next change asks again', async () => {
      const page = await openPage(browser, `${server.url}#v=1&src=paragraph.2&m=window&w=3`, { before: watch, lang: 'en' });
      await ready(page);
      await page.evaluate(() => window.attnscope.settled());
      server.fault = (path) => (path.includes('/data/') ? SIGN_IN : null);
      await page.evaluate((text) => window.attnscope.set(text), FRAGMENT);
      await waitForProblem(page, /is damaged/);
      // Still one message, however often the file is requested.
      await page.focus(slider('w'));
      await page.keyboard.press('ArrowRight');
      await waitForProblem(page, /is damaged/);
      assert.equal((await page.$$('.problem')).length, 1);
      server.fault = () => null;
      await page.keyboard.press('ArrowRight');
      await assertWell(page);
      await page.close();
    });

    test('a file that is missing and then there: the button asks again', async () => {
      server.fault = (path) => (path.endsWith('/layer3.vo.safetensors') ? { status: 503 } : null);
      const page = await openPage(browser, `${server.url}#${FRAGMENT.replace('.1', '.3')}`, { before: watch, lang: 'en' });
      const said = await waitForProblem(page, /status 503/);
      assert.ok(said.includes('layer3.vo'), said);
      server.fault = () => null;
      await page.click('.problem .retry');
      page.errors = page.errors.filter((text) => !/503/.test(text));
      await assertWell(page);
      await page.close();
    });
  });
}
