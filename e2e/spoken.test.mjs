// Until a cell is chosen the cell panel explains the one that the sentence is about: with the
// reference's numbers, in both engines, and without moving when another cell is pointed at.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, launch, openPage, parse, reference, show, slider } from './harness.mjs';
import { serve } from './server.mjs';

const WHY = {
  named: ['the cell that the sentence names', '句子所说的那一格'],
  example: ['a clear example of what the sentence says', '句子所说情形最明显的一格'],
  strongest: ['the strongest single weight of this map', '此图中最强的权重'],
};

const at = (want, row, col) => want.values[row * want.cols + col];
/** The cell where `of` is largest. */
function largest(want, of) {
  let best = { most: -Infinity };
  for (let row = 0; row < want.rows; row++) {
    for (let col = 0; col < want.cols; col++) {
      const most = want.visible[row * want.cols + col] ? of(row, col) : -Infinity;
      if (most > best.most) best = { most, row, col };
    }
  }
  return [best.row, best.col];
}
const strongest = (want) => largest(want, (row, col) => Math.abs(at(want, row, col)));

/**
 * For every kind of sentence: a Scene, what the sentence must say, how the panel introduces its cell,
 * and the cell itself, found from the reference's map by another way than the page's.
 */
const SENTENCES = {
  'a habit, one token to the right': ['m=full', /looks one token to the right/, 'example', (want) => largest(want, (row, col) => (col === row + 1 ? at(want, row, col) : -1))],
  'a favourite key': ['src=sentence.3&m=full&head=5', /rests on “\[CLS\]”/, 'example', (want) => largest(want, (row, col) => (col === 0 ? at(want, row, col) : -1))],
  'the strongest weight': ['src=random.24.3&m=full&head=0', /strongest single weight/, 'named', strongest],
  'what a window takes away': [
    'm=window&w=3',
    /loses .* of its weight/,
    'named',
    async (want, fragment) => {
      const full = await reference(fragment.replace(/&w=3/, '&w=64'));
      const { row } = want.summary.lost;
      return [row, largest({ ...full, visible: full.visible.map((_, cell) => !want.visible[cell]) }, (i, j) => (i === row ? at(full, i, j) : -1))[1]];
    },
  ],
  'a window over everything': ['m=window&w=64', /this is full attention/, 'strongest', strongest],
  'the causal mask': ['m=full&causal=1&src=random.24.3&head=0', /With the causal mask/, null, null],
  'CJAR without a bias': ['m=cjar', /No bias is set/, 'strongest', strongest],
  'what a bias moves': [
    'm=cjar&pk=1',
    /Weights move by at most/,
    'named',
    async (want, fragment) => {
      const plain = await reference(fragment.replace('&pk=1', ''));
      return largest(want, (row, col) => Math.abs(at(want, row, col) - at(plain, row, col)));
    },
  ],
  'a bias that moves nothing': ['m=cjar&pk=1&pk.each=0', /moves no weight at all/, 'strongest', strongest],
  'negative weights': ['m=cjar&reading=product&s=0.5', /are negative/, 'strongest', strongest],
  'no key at all': ['m=full&pad=24', /see no key/, 'example', () => [0, 0]],
};

/** The panel's text, once it matches the sentence on screen. */
async function read(page) {
  await page.evaluate(() => window.attnscope.settled());
  await page.waitForFunction(() => document.querySelector('.panel .result td') && !document.querySelector('.cell.is-late'), { timeout: 30_000 });
  return page.evaluate(() => ({
    cell: [...document.querySelectorAll('.token-role')].map((role) => Number(/= (\d+)$/.exec(role.textContent)[1])),
    tokens: [...document.querySelectorAll('.token-word')].map((word) => word.textContent),
    why: document.querySelector('.lock').textContent,
    rows: Object.fromEntries([...document.querySelectorAll('.panel .numbers tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent])),
    sentence: window.attnscope.sentence(),
  }));
}

/** The panel's numbers are the reference's for the cell that it names. */
async function judgePanel({ cell, rows }, fragment) {
  const want = (await reference(`${fragment}&cell=${cell.join('.')}`)).cell;
  for (const [label, value] of [['scale · q·k', want.qk], ['score r', want.score], ['weight A', want.weight], ['sum of the row', want.row_sum], ['keys this row sees', want.visible_keys]]) {
    const { value: got, off } = parse(rows[label]);
    assert.ok(Math.abs(got - value) <= off, `${fragment}, ${label}: ${rows[label]}, but it is ${value}`);
  }
}

for (const [engine, gpu] of [['WebGPU', true], ['CPU', false]]) for (const name of BROWSERS) {
  describe(`${name}, ${engine}`, () => {
    let browser, server, page;
    before(async () => {
      server = await serve(DIST);
      browser = await launch(name, { gpu });
      page = await openPage(browser, server.url, { lang: 'en' });
      await assertComputes(page, engine);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    for (const [what, [choices, says, how, where]] of Object.entries(SENTENCES)) {
      test(`${what}: the panel explains the cell of the sentence`, async () => {
        const fragment = `v=1&${choices}`;
        await show(page, fragment);
        const panel = await read(page);
        assert.match(panel.sentence, says);
        if (how) {
          assert.equal(panel.why, WHY[how][0]);
          assert.deepEqual(panel.cell, await where(await reference(fragment), fragment));
        }
        await judgePanel(panel, fragment);
        if (how === 'named' && !fragment.includes('pk')) {
          for (const token of panel.tokens) assert.ok(panel.sentence.includes(token), `“${token}” is not in: ${panel.sentence}`);
        }
      });
    }

    test('it follows the Scene, speaks Chinese, and gives way to a cell that is chosen', async () => {
      await show(page, 'v=1&m=window&w=2');
      const before = await read(page);
      await page.focus(slider('w'));
      for (let step = 0; step < 4; step++) await page.keyboard.press('ArrowRight');
      const after = await read(page);
      const fragment = await page.evaluate(() => window.attnscope.scene());
      assert.match(fragment, /w=6/);
      assert.notDeepEqual(after.rows, before.rows);
      await judgePanel(after, fragment);
      await show(page, 'v=1&m=window&w=6&lang=zh');
      assert.equal((await read(page)).why, WHY.named[1]);
      await show(page, 'v=1&m=window&w=6&cell=5.6');
      const locked = await read(page);
      assert.deepEqual([locked.cell, locked.why], [[5, 6], 'locked']);
      await judgePanel(locked, 'v=1&m=window&w=6');
    });

    test('nothing moves when a cell is pointed at', async () => {
      for (const choices of ['m=window&w=3', 'm=cjar&reading=product&s=0.5&inwin=1&w=3']) {
        await show(page, `v=1&${choices}`);
        await page.mouse.move(2, 2);
        const spoken = await read(page);
        const places = () =>
          page.evaluate(() => ['.tokens', '.lock', '.numbers', '.numbers tr:last-child', '.drawn'].map((css) => document.querySelector(css).getBoundingClientRect().top));
        const still = await places();
        const map = await page.$eval('#map', (it) => it.getBoundingClientRect().toJSON());
        for (const [row, col] of [[4, 5], [20, 3]]) {
          await page.mouse.move(map.x + ((col + 0.5) * map.width) / 24, map.y + ((row + 0.5) * map.height) / 24);
          await page.waitForFunction((index) => document.querySelector('.token-role').textContent.endsWith(`= ${index}`), {}, row);
          const hovered = await read(page);
          assert.deepEqual([hovered.cell, hovered.why], [[row, col], '']);
          assert.deepEqual(await places(), still, `${choices}, ${row}, ${col}`);
          await judgePanel(hovered, `v=1&${choices}`);
        }
        await page.mouse.move(2, 2);
        await page.waitForFunction((index) => document.querySelector('.token-role').textContent.endsWith(`= ${index}`), {}, spoken.cell[0]);
        assert.deepEqual(await read(page), spoken);
      }
    });

    test('it can be checked against the picture, and an embed has no panel to miss it', async () => {
      await show(page, 'v=1&m=full');
      const panel = await read(page);
      await page.click('.drawn button');
      await page.waitForSelector('.verdict.is-equal');
      assert.equal(parse(await page.$eval('.drawn-value', (it) => it.textContent)).value, parse(panel.rows['weight A']).value);
      assertQuiet(page, server.origin);
      const embed = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=3`, { lang: 'en' });
      await assertComputes(embed, engine);
      assert.equal(await embed.$('.panel'), null);
      assert.equal(await embed.$eval('.readout', (it) => it.textContent), 'Point at a cell; click to lock it');
      assertQuiet(embed, server.origin);
      await embed.close();
    });
  });
}
