// As the sources wrote it: both listings, and every point in which a listing and its text differ.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { compare } from './compare.mjs';
import { assertQuiet, DESK, opened, openPage, openReady, OUT, PHONE, readMap, ready, reference, show } from './harness.mjs';

const LISTINGS = {
  partial: ['window', 'projection', 'scale'],
  cjar: ['keys', 'bias', 'empty', 'rank'],
};

/** The drawn map, compared with the reference of the scene on screen. */
async function judged(page) {
  const map = await readMap(page);
  const fragment = await page.evaluate(() => window.attnscope.scene());
  const want = await reference(fragment);
  assert.equal(want.warnings, 0, fragment);
  assert.deepEqual([map.rows, map.cols], [want.rows, want.cols], fragment);
  compare(map.values, want.values, fragment);
  for (let at = 0; at < want.values.length; at++) {
    // A masked cell holds no number; a fully masked row is drawn as "no key".
    assert.ok(map.visible[at] === 1 ? want.visible[at] === 1 : want.visible[at] === 0 && map.values[at] === 0, `${fragment}: cell ${at}`);
  }
  return { fragment, map };
}

const apart = (a, b) => a.values.reduce((most, value, at) => Math.max(most, Math.abs(value - b.values[at])), 0);

/** The chosen side of a point: 0 the listing, 1 the text, −1 neither. */
const side = (page, point) =>
  page.evaluate((name) => [0, 1].findIndex((at) => document.getElementById(`point-${name}-${at}`).checked), point);

/** Opens a listing from the menu, as a reader does. */
async function open(page, at) {
  await page.click('button[popovertarget="scenes"].menu-button');
  await page.click(`#listings + ol li:nth-child(${at + 1}) button`);
}

for (const name of BROWSERS) {
  describe(name, () => {
    let browser, server, page;
    opened(name, (made) => ({ browser, server, page } = made));

    Object.entries(LISTINGS).forEach(([listing, points], at) => {
      test(`${listing}: the menu opens it, and it is drawn as the listing computes it`, async () => {
        await open(page, at);
        const { fragment } = await judged(page);
        assert.match(fragment, new RegExp(`lesson=${listing}(&|$)`));
        for (const point of points) assert.equal(await side(page, point), 0, point);
      });

      for (const point of points) {
        test(`${listing}, ${point}: pointer to the text, keyboard back to the listing`, async () => {
          await open(page, at);
          const listed = await judged(page);
          await page.click(`#point-${point}-1`);
          const text = await judged(page);
          assert.equal(await side(page, point), 1);
          assert.ok(apart(listed.map, text.map) > 0.02, `the map moves by ${apart(listed.map, text.map)}`);
          for (const other of points.filter((it) => it !== point)) assert.equal(await side(page, other), 0, other);
          await page.focus(`#point-${point}-1`);
          await page.keyboard.press('ArrowLeft');
          const back = await judged(page);
          assert.equal(await side(page, point), 0);
          assert.ok(apart(listed.map, back.map) < 1e-6, `the way back leaves ${apart(listed.map, back.map)}`);
          assert.equal(await page.evaluate(() => document.activeElement.id), `point-${point}-0`, 'the focus stays on the switch');
        });
      }
    });

    test('the shared pos_k of the CJAR listing moves nothing', async () => {
      await open(page, 1);
      const listed = await judged(page);
      await show(page, listed.fragment.replace(/&pk=[^&]*/, ''));
      const without = await judged(page);
      assert.notEqual(without.fragment, listed.fragment);
      assert.ok(apart(listed.map, without.map) < 1e-5, `${apart(listed.map, without.map)}`);
    });

    test('row 0 is the mean in the listing, no key in the text', async () => {
      await open(page, 1);
      const { map } = await judged(page);
      for (let col = 0; col < map.cols; col++) {
        assert.ok(Math.abs(map.values[col] - 1 / map.cols) < 1e-6);
        assert.equal(map.visible[col], 1);
      }
      await page.click('#point-empty-1');
      const text = await judged(page);
      for (let col = 0; col < map.cols; col++) {
        assert.ok(text.map.values[col] === 0 && text.map.visible[col] <= 0, 'no key');
      }
    });

    test('the rank of the listing changes the output and not the map', async () => {
      await open(page, 1);
      const listed = await judged(page);
      await show(page, `${listed.fragment.replace(/&r=\d+/, '')}&panel=output`);
      const without = await judged(page);
      assert.ok(apart(listed.map, without.map) < 1e-7);
      await show(page, `${listed.fragment}&panel=output`);
      const { error } = (await reference(listed.fragment)).output;
      assert.ok(error > 0.05, `rank 64 costs ${error}`);
      const told = `${(100 * error).toFixed(1)}\u00a0%`;
      await page.waitForFunction((text) => document.getElementById('panel').innerText.includes(text), { timeout: 30_000 }, told);
    });

    test('a third way is neither, and the panel stays until it is closed', async () => {
      await open(page, 1);
      const fragment = await page.evaluate(() => window.attnscope.scene());
      await show(page, `${fragment}&reading=bias`.replace('&reading=softmax', ''));
      assert.equal(await side(page, 'bias'), -1);
      await page.click('#point-keys-1');
      const link = (await judged(page)).fragment;
      const other = await openPage(browser, `${server.url}#${link}`);
      await ready(other);
      assert.deepEqual([await side(other, 'keys'), await side(other, 'bias')], [1, -1], 'the link holds the panel');
      assertQuiet(other, server.origin);
      await other.close();
      await page.click('.lesson .close');
      assert.equal(await page.$('.lesson'), null);
      assert.doesNotMatch(await page.evaluate(() => window.attnscope.scene()), /lesson=/);
    });

    test('a made-up text has no projections to skip', async () => {
      await show(page, 'v=1&lesson=partial&src=random.16.1&scale=model');
      assert.equal(await page.$('#point-projection-0'), null);
      assert.equal(await side(page, 'scale'), 0);
      assert.equal(await page.$eval('#projected', (it) => it.disabled), true);
    });

    test('padding, the mean, skipped projections and a random s from their controls', async () => {
      await show(page, 'v=1&m=cjar&reading=bias');
      const start = await judged(page);
      await page.evaluate(() => document.querySelectorAll('.controls details').forEach((it) => { it.open = true; }));
      await page.click('#s-dense');
      const dense = await judged(page);
      assert.match(dense.fragment, /s\.dense=1/);
      assert.ok(apart(start.map, dense.map) > 0.02);
      await page.focus('#padding');
      for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
      await page.click('#projected');
      const padded = await judged(page);
      assert.match(padded.fragment, /proj=0.*pad=3/);
      assert.ok(padded.map.visible[padded.map.cols - 1] <= 0, 'the last key is padding');
      await show(page, padded.fragment.replace('pad=3', 'pad=24'));
      const none = await judged(page);
      assert.ok(none.map.visible.every((share) => share <= 0), 'every key is padding');
      await page.evaluate(() => document.querySelectorAll('.controls details').forEach((it) => { it.open = true; }));
      await page.click('#empty-mean');
      const mean = await judged(page);
      assert.match(mean.fragment, /empty=mean/);
      assert.ok(mean.map.values.every((value) => Math.abs(value - 1 / 24) < 1e-6));
    });

    test('a random s that is too large is left out, and the page says so', async () => {
      await show(page, 'v=1&src=random.1200.1&m=cjar&reading=bias&s=1&s.dense=1&rect=0.0.40.40');
      const said = await page.$$eval('.controls .consequence', (all) => all.map((it) => it.innerText).join('\n'));
      assert.match(said, /so s is off/);
      await judged(page);
    });

    for (const [size, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      for (const [theme, lang] of [['light', 'en'], ['dark', 'zh']]) {
        test(`${size}, ${theme}, ${lang}: the panels are seen and nothing sticks out`, async () => {
          const other = await openReady(browser, server.url, { viewport });
          for (const listing of Object.keys(LISTINGS)) {
            const given = await other.evaluate(async (id, wishes) => {
              window.attnscope.set(wishes);
              window.attnscope.lesson(id);
              await window.attnscope.settled();
              const box = document.querySelector('.lesson');
              box.scrollIntoView({ block: 'nearest' });
              return {
                sticking: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                cut: [...box.querySelectorAll('*')].filter((it) => it.scrollWidth > it.clientWidth + 1 && it.clientWidth > 0).map((it) => it.className),
                // The sentence may take one line more than before: the map gives way, and its labels
                // move with it.
                label: (({ top, bottom }) => (top + bottom) / 2)([...document.querySelectorAll('.axis-q .tick')].at(-1).getBoundingClientRect()) - document.querySelector('.map').getBoundingClientRect().top,
                pitch: document.querySelector('.map').clientHeight / 24,
                points: box.querySelectorAll('.point').length,
              };
            }, listing, `v=1&lang=${lang}&theme=${theme}`);
            await other.screenshot({ path: join(OUT, `listing-${listing}-${size}-${theme}-${lang}-${name}.png`), fullPage: true });
            assert.ok(given.sticking <= 0, `the page is ${given.sticking} px wider than the screen`);
            assert.deepEqual(given.cut, [], 'cut off');
            const row = given.label / given.pitch - 0.5;
            assert.ok(row < 23.5 && Math.abs(row - Math.round(row)) < 0.2, `the last label stands at row ${row}`);
            assert.equal(given.points, LISTINGS[listing].length);
          }
          assertQuiet(other, server.origin);
          await other.close();
        });
      }
    }

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });
}
