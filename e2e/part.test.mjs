// The visible part of the map: pixels, labels, readout, table and mark agree on the cells. In each
// scene one diagonal is visible and the labels are the tokens' numbers, so that a cell can be
// identified without the page's own arithmetic.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { PNG } from 'pngjs';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, launch, openPage, show } from './harness.mjs';
import { serve } from './server.mjs';

const L = 24;
/** Choices, and how far the key lies before the query. */
const DIAGONALS = [['w=0', 0], ['conv=explicit&left=3&right=-3', 3]];
const RECTS = ['0.7.24.24', '20.20.12.12', '7.0.24.24', '19.20.5.4', '23.23.24.24', '5.6.8.9', '20.2.4.30', '30.2.4.24', '0.0.25.25'];

const range = (from, to) => Array.from({ length: to - from }, (_, at) => from + at);
/** The requested indices of an axis that exist; if there are none, the last one. */
function there(start, count) {
  const found = range(start, start + count).filter((at) => at < L);
  return found.length > 0 ? found : [L - 1];
}

/** The place of the map, the points its labels point at, and the place of the locked cell's mark. */
const marks = (page) =>
  page.evaluate(() => {
    const map = document.querySelector('.map canvas').getBoundingClientRect().toJSON();
    const labels = (css) =>
      [...document.querySelectorAll(`${css} text:not(.hot)`)].map((label) => {
        const { e: x, f: y } = label.getScreenCTM();
        return { index: Number(label.textContent), x, y };
      });
    const ring = document.querySelector('.ring:not(.cursor)').getBoundingClientRect().toJSON();
    return { map, queries: labels('.axis-q'), keys: labels('.axis-k'), ring };
  });

/** The middle of a cell has the bright colour of weight 1; hatch is grey. */
function bright(picture, map, { x, y }, size) {
  const sum = [0, 0, 0];
  for (let dy = -size; dy <= size; dy++) {
    for (let dx = -size; dx <= size; dx++) {
      const at = (Math.round(y + dy) * picture.width + Math.round(x + dx)) * 4;
      for (const part of [0, 1, 2]) sum[part] += picture.data[at + part];
    }
  }
  return sum[0] - sum[2] > 60 * (2 * size + 1) ** 2;
}

async function table(page) {
  if (!(await page.$('#table'))) await page.click('#as-table');
  await page.waitForFunction(() => document.querySelector('#table tbody tr'), { timeout: 20_000 });
  const read = await page.$eval('#table', (box) => {
    const words = (within, css) => [...within.querySelectorAll(css)].map((node) => node.textContent);
    return {
      keys: words(box, 'thead th[scope=col]'),
      rows: [...box.querySelectorAll('tbody tr')].map((row) => ({ query: words(row, 'th')[0], cells: words(row, 'td') })),
    };
  });
  await page.click('#as-table');
  return read;
}

async function judge(page, fragment, [start, col, rows, cols], shift) {
  const wanted = { queries: there(start, rows), keys: there(col, cols) };
  const drawn = await show(page, fragment);
  // The message about a part that overhangs covers the map.
  for (let box = await page.$('.problem button.icon'); box; box = await page.$('.problem button.icon')) await box.click();
  assert.deepEqual([drawn.rows, drawn.cols], [wanted.queries.length, wanted.keys.length], 'size of the picture');

  const picture = PNG.sync.read(Buffer.from(await page.screenshot()));
  const { map, queries, keys, ring } = await marks(page);
  const [high, wide] = [map.height / drawn.rows, map.width / drawn.cols];
  const middle = (y, x) => ({ x: map.x + (x + 0.5) * wide, y: map.y + (y + 0.5) * high });
  // Labels by the cell that they belong to.
  const rowLabel = new Map(queries.map((label) => [Math.floor((label.y - map.y) / high), label.index]));
  const colLabel = new Map(keys.map((label) => [Math.floor((label.x - map.x) / wide), label.index]));
  assert.deepEqual([...rowLabel].sort((a, b) => a[0] - b[0]), wanted.queries.map((index, y) => [y, index]), 'labels of the queries');
  assert.deepEqual([...colLabel].sort((a, b) => a[0] - b[0]), wanted.keys.map((index, x) => [x, index]), 'labels of the keys');

  const seen = [];
  for (let y = 0; y < drawn.rows; y++) {
    for (let x = 0; x < drawn.cols; x++) {
      const where = `cell ${y} ${x}, labelled ${rowLabel.get(y)} ${colLabel.get(x)}`;
      const on = rowLabel.get(y) - colLabel.get(x) === shift;
      assert.equal(drawn.visible[y * drawn.cols + x] === 1, on, `${where}: read back`);
      const size = Math.max(1, Math.floor(Math.min(high, wide) / 6));
      assert.equal(bright(picture, map, middle(y, x), size), on, `${where}: pixels`);
      if (on) seen.push([y, x]);
    }
  }

  for (const [y, x] of [seen[0], seen.at(-1)].filter(Boolean)) {
    const at = middle(y, x);
    await page.mouse.move(at.x, at.y);
    const [i, j] = [rowLabel.get(y), colLabel.get(x)];
    await page.waitForFunction((words) => document.querySelector('.readout').textContent.includes(words), {}, '1.000');
    const said = await page.$eval('.readout', (line) => line.textContent);
    const named = said.match(/^query (\d+) \D+(\d+)\D+ key (\d+) \D+(\d+)/);
    // Number and token are the same here.
    assert.deepEqual(named?.slice(1).map(Number), [i, i, j, j], said);
  }
  await page.mouse.move(2, 2);

  const { keys: names, rows: lines } = await table(page);
  const index = (name) => Number(name.split(' ')[0]);
  assert.deepEqual(lines.map((line) => index(line.query)), wanted.queries, 'rows of the table');
  assert.deepEqual(names.map(index), wanted.keys, 'columns of the table');
  for (const { query, cells } of lines) {
    cells.forEach((text, at) => {
      const on = index(query) - index(names[at]) === shift;
      assert.equal(text === '1.000', on, `table: ${query}, ${names[at]}: ${text}`);
    });
  }
  return { seen, middle, rowLabel, colLabel, ring, high, wide };
}

for (const name of BROWSERS) {
  for (const gpu of [true, false]) {
    describe(`${name} ${gpu ? 'with' : 'without'} WebGPU`, () => {
      let browser;
      let server;
      let page;
      before(async () => {
        server = await serve(DIST);
        browser = await launch(name, { gpu });
        page = await openPage(browser, server.url, { lang: 'en' });
        await assertComputes(page, gpu ? 'WebGPU' : 'CPU');
      });
      after(async () => {
        await browser?.close();
        await server?.close();
      });

      for (const rect of RECTS) {
        for (const [choices, shift] of DIAGONALS) {
          test(`rect=${rect}, ${choices}: labels, readout, table and mark are of the drawn cells`, async () => {
            const base = `v=1&src=random.${L}.1&m=window&${choices}&range=unit&theme=light&rect=${rect}`;
            const numbers = rect.split('.').map(Number);
            const { seen, middle, rowLabel, colLabel, high, wide } = await judge(page, base, numbers, shift);
            if (seen.length === 0) return;
            const [y, x] = seen[Math.floor(seen.length / 2)];
            await show(page, `${base}&cell=${rowLabel.get(y)}.${colLabel.get(x)}`);
            const { ring } = await marks(page);
            const at = middle(y, x);
            const off = [ring.x + ring.width / 2 - at.x, ring.y + ring.height / 2 - at.y];
            assert.ok(Math.abs(off[0]) < wide / 4 && Math.abs(off[1]) < high / 4, `the mark is off by ${off}`);
          });
        }
      }

      test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
    });
  }
}
