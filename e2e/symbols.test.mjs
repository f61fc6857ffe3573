// Mathematical symbols: shown with a subscript, spoken as two words, in every panel, card and message
// of both languages; names of code and of link parameters stay as they are.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DIST, launch, openPage, problems, ready, show, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

const SCENES = [
  'm=full&cell=3.5&panel=cell',
  'm=window&w=3&panel=cost',
  'm=cjar&r=64&pk=1&pk.each=0&panel=output',
  'm=cjar&r=8&rho=4&reading=product&s=0.5&panel=cost&pad=2',
  'm=cjar&reading=bias&s=0.5&pk=0.5&panel=cell',
  'm=full&panel=output&map=score',
];
const LESSONS = ['full', 'window', 'sink', 'bias', 'signed', 'rank', 'partial', 'cjar'];

/** Texts and attributes with an underscore between two letters, and every subscript. */
const found = (target) =>
  target.evaluate(() => {
    const bare = /\p{L}['′]?_\p{L}/u;
    const wrong = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const node = text.parentElement;
      if (bare.test(text.data) && !node.closest('code, script, style, textarea')) wrong.push(text.data);
      if (/[\u0001-\u0003]/.test(text.data)) wrong.push(`a mark in: ${text.data}`);
    }
    for (const node of document.querySelectorAll('*')) {
      for (const name of ['aria-label', 'title', 'aria-valuetext', 'aria-description', 'alt', 'placeholder']) {
        const words = node.getAttribute(name) ?? '';
        if (/[\u0001-\u0003]/.test(words) || (bare.test(words) && !node.closest('.mask-call'))) wrong.push(`${name}: ${words}`);
      }
    }
    const below = [...document.querySelectorAll('sub')].filter((node) => node.checkVisibility()).map((node) => {
      const letter = document.createRange();
      const before = node.previousSibling;
      letter.setStart(before, before.data.length - 1);
      letter.setEnd(before, before.data.length);
      const own = document.createRange();
      own.setStart(node.firstChild, 1);
      own.setEnd(node.firstChild, node.firstChild.data.length);
      const [base, small] = [letter, own].map((range) => range.getBoundingClientRect());
      return { text: before.data.slice(-1) + node.textContent, gap: small.left - base.right, lower: small.bottom - base.bottom, smaller: small.height / base.height, line: small.top < base.bottom };
    });
    return { wrong, below };
  });

const unfold = (page) => page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));

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
      test(`${lang}: no underscore is read or heard, and every subscript looks like one`, async () => {
        const page = await openPage(browser, server.url, { lang });
        await ready(page);
        const symbols = new Set();
        const look = async (what) => {
          await unfold(page);
          const { wrong, below } = await found(page);
          assert.deepEqual(wrong, [], what);
          for (const { text, gap, lower, smaller, line } of below) {
            assert.match(text, /^\p{L} \w{1,3}$/u, what);
            assert.ok(Math.abs(gap) < 2.5, `${what}: ${text}: a gap of ${gap} px`);
            assert.ok(lower > 0.5 && smaller < 0.9 && line, `${what}: ${text} stands ${lower} px lower, ${smaller} as high`);
            symbols.add(text);
          }
        };
        for (const choices of SCENES) {
          await show(page, `v=1&${choices}`);
          await look(choices);
        }
        for (const lesson of LESSONS) {
          await page.evaluate(async (id) => {
            window.attnscope.lesson(id);
            await window.attnscope.settled();
          }, lesson);
          await look(lesson);
        }
        for (const symbol of ['W O', 'W Q', 'P K', 'P V', 'd h', 'd k', 's ij']) assert.ok(symbols.has(symbol), `${symbol} is not among ${[...symbols]}`);
        const code = await page.$$eval('.lesson code', (all) => all.map((it) => it.textContent));
        assert.ok(code.includes('pos_k'), `names of the listing: ${code}`);
        assertQuiet(page, server.origin);
        await page.goto(`${server.url}check.html?lang=${lang}`);
        await page.waitForSelector('[data-state=done]', { timeout: 90_000 });
        const { wrong, below } = await found(page);
        assert.deepEqual(wrong, []);
        assert.ok(below.some(({ text }) => text === 'P K'));
        await page.close();
      });
    }

    test('controls are called by two words, and an option of a select shows its subscript', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      await show(page, 'v=1&m=cjar&r=64');
      await unfold(page);
      const names = await page.evaluate(() => {
        const name = (id) => {
          const node = document.getElementById(id);
          return node.getAttribute('aria-label') ?? [...node.labels].map((label) => label.innerText.trim()).join(' ');
        };
        const option = document.querySelector('#scale option');
        return [name('p-k'), name('p-k-exact'), name('p-v'), option.textContent, option.getAttribute('aria-label')];
      });
      assert.deepEqual(names, ['Position bias of keys P K', 'Position bias of keys P K, exact value', 'Position bias of values P V', '1/√dₕ (usual)', null]);
      if (name === 'chromium') {
        // As the browser describes it to a screen reader.
        const tree = JSON.stringify(await page.accessibility.snapshot());
        assert.match(tree, /"role":"slider"[^{}]*"name":"Position bias of keys P K"/);
        assert.match(tree, /"name":"Position bias of keys P K, exact value"/);
        assert.doesNotMatch(tree.replace(/"(?:F\.|flex_|jax\.)[^"]*"/g, ''), /"name":"[^"]*\b[A-Za-z]_[A-Za-z]/);
      }
      await page.close();
    });

    test('what a link holds is repeated as it is, and so is code', async () => {
      const page = await openPage(browser, `${server.url}#v=1&w_o=3&m=q_i&mask=P_K`, { lang: 'en' });
      await waitForProblem(page, /w_o/);
      const said = await problems(page);
      for (const part of ['w_o=3 (unknown, left out)', 'm=q_i (not possible here', 'mask=P_K (unknown']) assert.ok(said.includes(part), `${part}: ${said}`);
      assert.equal(await page.$('.problem sub'), null);
      await page.evaluate(() => window.attnscope.set('v=1&m=window&conv=causal_count&w=5'));
      await page.evaluate(() => window.attnscope.settled());
      await unfold(page);
      await page.waitForSelector('.mask-call');
      const code = await page.$$eval('.mask-call code', (all) => all.map((it) => it.textContent).join('\n'));
      assert.match(code, /local_window_size=5/);
      assert.match(code, /scaled_dot_product_attention/);
      await page.close();
    });
  });
}
