// The sentences of the panels: the numbers of their tables, announced once the hand rests, in a live
// region.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, opened, show, slider } from './harness.mjs';

const SENTENCE = '.panel [aria-live="polite"]';
const says = (page) => page.$eval(SENTENCE, (node) => node.textContent.trim());
/** Waits until the sentence has been the same for longer than the debounce. */
async function settled(page) {
  await page.evaluate(() => window.attnscope.settled());
  let last;
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const now = await says(page);
    if (now && now === last) return now;
    last = now;
    await new Promise((resolve) => setTimeout(resolve, 700));
  }
  throw new Error(`no sentence came to rest: "${last}"`);
}
const cells = (page) => page.$$eval('.panel .numbers td', (all) => all.map((cell) => cell.textContent.trim()));

for (const name of BROWSERS) {
  describe(name, () => {
    let server, page;
    opened(name, (made) => ({ server, page } = made), { lang: 'en' });

    test('the output panel says what the rank costs, with the numbers of its table', async () => {
      await show(page, 'v=1&m=cjar&r=64&panel=output');
      const text = await settled(page);
      const [energy, , error, parameters] = await cells(page);
      assert.ok(text.includes('rank 64 of 384'), text);
      for (const number of [energy, error, ...parameters.split(' / ')]) assert.ok(text.includes(number), `${number} in: ${text}`);
      await show(page, 'v=1&m=full&panel=output');
      assert.match(await settled(page), /whole/);
      await show(page, 'v=1&lang=zh&m=cjar&r=64&panel=output');
      assert.match(await settled(page), /秩取 64（共 384）/);
      await show(page, 'v=1&lang=en');
    });

    test('the cost panel says how much more or less than full attention', async () => {
      const sum = async () => (await page.$$eval('.cost .sum td', (all) => all.map((cell) => cell.textContent.trim()))).slice(0, 2);
      for (const [choices, word] of [['m=full', 'as much as'], ['m=window&w=3', 'less than'], ['m=cjar&r=300', 'more than']]) {
        await show(page, `v=1&${choices}&panel=cost`);
        const text = await settled(page);
        const [full, now] = await sum();
        assert.ok(text.includes(word), text);
        assert.ok(text.includes(`${now}FLOP`) && (word === 'as much as' || text.includes(`${full}FLOP`)), `${full}, ${now} in: ${text}`);
      }
    });

    test('during a drag it is silent, and then says where the drag ended', async () => {
      await show(page, 'v=1&m=cjar&r=64&panel=output');
      await settled(page);
      await page.$eval(SENTENCE, (node) => {
        window.said = [];
        new MutationObserver(() => window.said.push(node.textContent.trim())).observe(node, { characterData: true, childList: true, subtree: true });
      });
      const input = await page.waitForSelector(slider('r'));
      await input.focus();
      for (let step = 0; step < 12; step++) await page.keyboard.press('ArrowRight');
      const rank = await input.evaluate((node) => node.getAttribute('aria-valuetext') ?? node.value);
      const text = await settled(page);
      const said = await page.evaluate(() => window.said);
      assert.ok(said.length >= 1 && said.length < 12, `${said.length} sentences for 12 steps`);
      assert.ok(text.includes(`rank ${rank.match(/\d+/)[0]} of`), `${rank}: ${text}`);
    });

    test('rows without keys are crossed, and only those', async () => {
      const fullyMasked = () =>
        page.$eval('.fully-masked', (node) => ({ there: node.checkVisibility(), mask: getComputedStyle(node).maskImage }));
      await show(page, 'v=1&m=full');
      assert.equal((await fullyMasked()).there, false);
      // A window of three over 24 tokens, the last eight of them padding: rows from 19 on are fully
      // masked.
      await show(page, 'v=1&m=window&w=3&pad=8');
      const { there, mask } = await fullyMasked();
      assert.ok(there);
      assert.match(mask, /79\.1667%.*100%/, mask);
      assert.equal((await page.evaluate(() => window.attnscope.summary())).empty_rows, 5);
      assertQuiet(page, new URL(server.url).origin);
    });
  });
}
