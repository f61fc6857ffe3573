// The map as a table: it has the reference's numbers, says why a cell has none, and follows.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, opened, openPage, parse, ready, reference, show, slider } from './harness.mjs';

const NO_KEYS = 'm=cjar&reading=softmax&inwin=1&conv=explicit&left=all&right=-1';
const WORDS = { en: { masked: 'masked', none: 'no key' }, zh: { masked: '已掩码', none: '无可见键' } };

/** The open table, once the page is at rest. */
async function read(page) {
  await page.evaluate(() => window.attnscope.settled());
  await page.waitForFunction(() => document.querySelector('#table tbody tr'), { timeout: 20_000 });
  return page.$eval('#table', (box) => {
    const words = (within, css) => [...within.querySelectorAll(css)].map((node) => node.textContent);
    return {
      caption: words(box, 'caption')[0],
      keys: words(box, 'thead th[scope=col]'),
      rows: [...box.querySelectorAll('tbody tr')].map((row) => ({
        query: words(row, 'th[scope=row]')[0],
        cells: words(row, 'td'),
      })),
    };
  });
}

const open = async (page) => {
  if (!(await page.$('#table'))) await page.click('#as-table');
};

/** Compares a table with the reference of the whole map; counts the cells of each kind. */
async function judge(table, fragment, { masked, none } = WORDS.en) {
  const whole = fragment.replace(/&rect=[^&]*/, '');
  const want = await reference(whole);
  const seen = await reference(whole.replace(/&empty=[^&]*/, ''));
  assert.equal(want.warnings, 0, fragment);
  const index = (name) => Number(name.split(' ')[0]);
  const kinds = { number: 0, masked: 0, none: 0 };
  for (const { query, cells } of table.rows) {
    const row = index(query) * want.cols;
    const empty = !seen.visible.slice(row, row + want.cols).some(Boolean);
    assert.equal(cells.length, table.keys.length, query);
    cells.forEach((text, at) => {
      const cell = row + index(table.keys[at]);
      const where = `${fragment}: ${query}, ${table.keys[at]}: “${text}”`;
      const weight = want.values[cell];
      if (empty && weight === 0) assert.equal(text, none, where);
      else if (!empty && !seen.visible[cell]) assert.equal(text, masked, where);
      else {
        const { value, off } = parse(empty ? text.replace(`${none} `, '') : text);
        assert.ok(Math.abs(value - weight) <= off, `${where}, but it is ${weight}`);
      }
      kinds[empty ? 'none' : seen.visible[cell] ? 'number' : 'masked'] += 1;
    });
  }
  return kinds;
}

for (const name of BROWSERS) {
  describe(name, () => {
    let browser, server, page;
    opened(name, (made) => ({ browser, server, page } = made), { lang: 'en' });

    test('it is there when it is asked for, and Escape closes it', async () => {
      assert.equal(await page.$('#table'), null, 'made before anybody asked');
      const expanded = () => page.$eval('#as-table', (button) => button.getAttribute('aria-expanded'));
      assert.equal(await expanded(), 'false');
      await page.focus('#as-table');
      await page.keyboard.press('Enter');
      assert.equal(await expanded(), 'true');
      assert.match((await read(page)).caption, /Weights A.*head 8/);
      await page.focus('#table');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.getElementById('table'));
      assert.equal(await expanded(), 'false');
      assert.equal(await page.evaluate(() => document.activeElement.id), 'as-table');
    });

    for (const [what, choices, wanted] of [
      ['full attention', 'm=full&head=3', { number: 576 }],
      ['a window', 'm=window&w=3', { number: 156, masked: 420 }],
      ['scores', 'm=window&w=3&map=score&head=3', { number: 156, masked: 420 }],
      ['negative weights', 'm=cjar&reading=product&s=0.5&s.decay=0.3', { number: 576 }],
      ['a part of the map', 'm=full&head=11&rect=5.6.8.9', { number: 72 }],
      ['rows without keys', NO_KEYS, { number: 276, masked: 276, none: 24 }],
      ['rows without keys and a mask of −1e9', `${NO_KEYS}&empty=mean`, { none: 24 }],
    ]) {
      test(`${what}: every cell is the reference's, in numbers or words`, async () => {
        const fragment = `v=1&${choices}`;
        await show(page, fragment);
        await open(page);
        const kinds = await judge(await read(page), fragment);
        for (const [kind, count] of Object.entries(wanted)) assert.equal(kinds[kind], count, kind);
      });
    }

    test('of a long text it shows the part around the locked cell, and says so', async () => {
      const fragment = 'v=1&src=paragraph.1&m=full&cell=60.119';
      await show(page, fragment);
      await open(page);
      const table = await read(page);
      assert.match(table.caption, /40 × 40 of 120 × 120/);
      assert.match(table.rows[0].query, /^40 /);
      assert.match(table.keys[39], /^119 /);
      assert.equal((await judge(table, fragment)).number, 1600);
    });

    test('it speaks Chinese, and agrees with the cell panel', async () => {
      const fragment = `v=1&${NO_KEYS}&cell=7.3&lang=zh`;
      await show(page, fragment);
      await open(page);
      const table = await read(page);
      assert.match(table.caption, /权重 A/);
      await judge(table, fragment, WORDS.zh);
      await page.waitForSelector('.numbers .result td');
      assert.equal(await page.$eval('.numbers .result td', (cell) => cell.textContent), table.rows[7].cells[3]);
    });

    test('it follows a slider when the hand rests', async () => {
      await show(page, 'v=1&m=window&w=2');
      await open(page);
      const before = await read(page);
      await page.focus(slider('w'));
      for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowRight');
      const after = await read(page);
      const fragment = await page.evaluate(() => window.attnscope.scene());
      assert.match(fragment, /w=5/);
      assert.notDeepEqual(after, before);
      await judge(after, fragment);
    });

    test('the embed has it too', async () => {
      const fragment = 'v=1&m=window&w=3&show=window';
      const embed = await openPage(browser, `${server.url}embed.html#${fragment}`, { lang: 'en', viewport: { width: 640, height: 540 } });
      await ready(embed);
      await open(embed);
      assert.equal((await judge(await read(embed), fragment)).masked, 420);
      assertQuiet(embed, server.origin);
      await embed.close();
    });

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });
}
