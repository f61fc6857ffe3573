// Where a layer has less than a link or a reader asks for, the page says so, and the link holds what is
// shown.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, judge, opened, openPage, problems, readMap, ready, show, waitForProblem } from './harness.mjs';

const scene = (page) =>
  page.evaluate(async () => {
    await window.attnscope.settled();
    return window.attnscope.scene();
  });
const boxes = (page) => page.$$eval('.problem', (all) => all.length);
const atAddress = (page, fragment) => page.waitForFunction((wanted) => location.hash === `#${wanted}`, {}, fragment);

/** Link, message, and the link afterwards. */
const LIMITED = [
  ['v=1&head=99', /head=99.* \(limited to 11\)/, 'v=1&head=11'],
  ['v=1&src=random.24.1&head=8', /head=8.* \(limited to 3\)/, 'v=1&src=random.24.1&head=3'],
  ['v=1&rect=20.20.12.12', /rect=20\.20\.12\.12.* \(limited to 20\.20\.4\.4\)/, 'v=1&rect=20.20.4.4'],
  ['v=1&rect=0.7.24.24&cell=3.40', /rect=0\.7\.24\.24.* \(limited to 0\.7\.24\.17\); .*cell=3\.40.* \(not possible here, so none\)/, 'v=1&rect=0.7.24.17'],
  ['v=1&m=cjar&r=1000&rho=500&seg=900', /seg=900.* \(limited to all\); .*rho=500.* \(limited to full\); .*r=1000.* \(limited to full\)/, 'v=1&m=cjar'],
  ['v=1&m=window&sinks=30&pad=90', /sinks=30.* \(limited to 24\); .*pad=90.* \(limited to 24\)/, 'v=1&m=window&sinks=24&pad=24'],
];
/** Links without any limit. */
const WHOLE = ['v=1', 'v=1&head=11', 'v=1&src=random.24.1', 'v=1&m=window&w=900&dil=70', 'v=1&sinks=900&r=1000', 'v=1&m=cjar&seg=24&r=384'];

for (const name of BROWSERS) {
  describe(name, () => {
    let browser, server, page;
    opened(name, (made) => ({ browser, server, page } = made), { lang: 'en' });

    for (const [link, words, after] of LIMITED) {
      test(`${link}: a sentence says what is shown, and so does the link`, async () => {
        const other = await openPage(browser, `${server.url}#${link}`, { lang: 'en' });
        try {
          await ready(other);
          const steps = await other.evaluate(() => history.length);
          await waitForProblem(other, words);
          assert.equal(await scene(other), after);
          await atAddress(other, after);
          assert.equal(await other.evaluate(() => history.length), steps, 'a step that leads back to the same');
          assert.equal(await boxes(other), 1);
          await judge(await readMap(other), after);
          assertQuiet(other, server.origin);
        } finally {
          await other.close();
        }
      });
    }

    test('what is limited is said in Chinese too', async () => {
      await show(page, 'v=1&head=99&lang=zh');
      await waitForProblem(page, /此层缺少.*head=99.*（限制为 11）/);
      await show(page, 'v=1&lang=en');
      assert.equal(await problems(page), '');
    });

    test('what fits, what does not act and what nobody has chosen is not spoken of', async () => {
      for (const link of WHOLE) {
        await show(page, link);
        assert.equal(await problems(page), '', link);
        assert.equal(await scene(page), link);
      }
    });

    test('going back from a link that was limited leads to the one before', async () => {
      await show(page, 'v=1&m=window');
      await atAddress(page, 'v=1&m=window');
      await page.evaluate(() => (location.hash = '#v=1&head=99'));
      await waitForProblem(page, /head=99/);
      await atAddress(page, 'v=1&head=11');
      // The same link once more gives the message once more.
      await page.click('.problem button.icon');
      await page.evaluate(() => (location.hash = '#v=1&head=99'));
      await waitForProblem(page, /head=99/);
      await atAddress(page, 'v=1&head=11');
      await page.evaluate(() => history.go(-2));
      await atAddress(page, 'v=1&m=window');
      assert.equal(await scene(page), 'v=1&m=window');
      assert.equal(await problems(page), '');
    });

    test('another source limits the head in words, once, and gives it back', async () => {
      await show(page, 'v=1&head=11');
      await page.select('#source', '3');
      await waitForProblem(page, /head=11.* \(limited to 3\)/);
      assert.equal(await scene(page), 'v=1&src=random.64.1&head=3');
      // Once dismissed, it stays away while the limits are the same.
      await page.click('.problem button.icon');
      for (const pattern of ['4', '5']) {
        await page.select('#source', pattern);
        assert.match(await scene(page), /head=3/);
        assert.equal(await problems(page), '');
      }
      await page.select('#source', '0');
      assert.equal(await scene(page), 'v=1&head=11', 'the choice is lost');
      assert.equal(await problems(page), '');
    });

    test('a head that is chosen there ends the words', async () => {
      await show(page, 'v=1&head=11');
      await page.select('#source', '3');
      await waitForProblem(page, /head=11/);
      await page.select('#head', '2');
      await page.waitForFunction(() => !document.querySelector('.problem'));
      await page.select('#source', '0');
      assert.equal(await scene(page), 'v=1&head=2');
    });

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });
}
