// Paper: the drawn map cell by cell, its labels beside their rows and columns, the hatch only where
// something is masked, the legend with its colours and numbers, the sentence; one sheet, light.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { PNG } from 'pngjs';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, built, DIST, judge, launch, openPage, PHONE, readMap, show } from './harness.mjs';
import { colours, lines, middle } from './image.mjs';
import { print, SCALE } from './paper.mjs';
import { serve } from './server.mjs';

/** The shipped sentence. */
const TOKENS = '[CLS] the old bridge that the river crosses under was closed because it had cracked , so the children walked around it . [SEP]'.split(' ');
/** The line around the map on paper: --line-strong of the light theme. */
const LINE = [138, 140, 144];

/** The square of the map on a sheet, in pixels: below a horizontal line and right of a vertical one. */
function mapOn({ width, height, data }) {
  const isLine = (x, y) => LINE.every((value, part) => Math.abs(data[(y * width + x) * 4 + part] - value) < 20);
  let box = { size: 0 };
  for (let y = 0; y + 1 < height; y++) {
    let left = 0;
    for (let x = 0; x <= width; x++) {
      if (x < width && isLine(x, y)) continue;
      let line = 1;
      while (line < 3 && isLine(left + 3, y - line)) line += 1;
      const found = { x: left + line, y: y + 1, size: x - left - 2 * line };
      const rows = Array.from({ length: Math.max(0, Math.min(found.size, height - found.y)) }, (_, row) => found.y + row);
      // A browser may give a part of its other two lines to the cells.
      const isMap = found.size > box.size && found.size > 180 * SCALE && rows.filter((row) => isLine(left, row)).length > 0.9 * found.size;
      if (isMap && !isLine(left + 3, y + 1)) box = found;
      left = x + 1;
    }
  }
  assert.ok(box.size > 0, 'there is no frame of a map on the sheet');
  return box;
}

/** The screen: the middle of every cell, the labels in the order of their cells, the words. */
async function screen(page) {
  const seen = await page.evaluate(() => {
    const { x, y, width } = document.querySelector('.map').getBoundingClientRect();
    const labels = (axis) => [...document.querySelectorAll(`${axis} .tick`)].map((tick) => tick.textContent);
    return {
      box: { x, y, size: width },
      rows: labels('.axis-q'),
      columns: labels('.axis-k'),
      places: [...document.querySelectorAll('.axis-q .tick')].map((tick) => {
        const { top, bottom } = tick.getBoundingClientRect();
        return ((top + bottom) / 2 - y) / width;
      }),
      sentence: document.querySelector('.sentence').innerText,
      numbers: [...document.querySelectorAll('.legend-number')].map((it) => it.innerText),
    };
  });
  return { ...seen, picture: PNG.sync.read(Buffer.from(await page.screenshot({ captureBeyondViewport: false }))) };
}

/**
 * Every row and column has its token beside it: a word, or the start of a slanted one. Those of the
 * locked cell have a halo, which Firefox draws as curves.
 */
function assertLabels(words, { x, y, size }, tokens, [row, col] = []) {
  // In CSS pixels.
  const at = (index) => ((index + 0.5) * size) / tokens.length / SCALE;
  const [left, top] = [x / SCALE, y / SCALE];
  tokens.forEach((label, index) => {
    const beside = (word) => word.text === label && word.right < left && left - word.right < 16 && Math.abs((word.top + word.bottom) / 2 - top - at(index)) < 4;
    assert.ok(index === row || words.some(beside), `row ${index} has no label “${label}”`);
    const above = (word) => label.startsWith(word.text) && word.bottom < top && top - word.bottom < 16 && Math.abs(word.left + 4 - left - at(index)) < 8;
    assert.ok(index === col || words.some(above), `column ${index} has no label “${label}”`);
  });
}

const squeezed = (text) => text.replace(/[\s\u2060-\u206f]/g, '');

for (const [engine, gpu] of [['WebGPU', true], ['CPU', false]]) for (const name of BROWSERS) {
  describe(`${name}, ${engine}`, () => {
    let browser;
    let server;
    before(async () => {
      server = await serve(DIST);
      browser = await launch(name, { gpu });
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    for (const [way, theme, lang] of [['portrait', 'light', 'en'], ['landscape', 'dark', 'zh']]) {
      test(`${way}, ${theme}, ${lang}: the map is on the paper as it is on the screen`, async () => {
        const page = await openPage(browser, server.url, { lang });
        await assertComputes(page, engine);
        const fragment = `v=1&m=window&w=3&theme=${theme}`;
        const map = await show(page, fragment);
        await judge(map, fragment);
        const wanted = await screen(page);
        const { sheets, picture, words } = await print(page, { landscape: way === 'landscape' });
        assert.equal(sheets, 1, 'sheets');
        assert.ok(picture.width > picture.height === (way === 'landscape'));
        assert.deepEqual([...picture.data.subarray(0, 3)], [255, 255, 255], 'the paper');

        const box = mapOn(picture);
        const pitch = box.size / map.cols;
        for (let row = 0; row < map.rows; row++) {
          for (let col = 0; col < map.cols; col++) {
            const where = `row ${row}, column ${col}`;
            const side = Math.floor(pitch * 0.6);
            const cell = { x: Math.round(box.x + (col + 0.2) * pitch), y: Math.round(box.y + (row + 0.2) * pitch), side };
            const sees = map.visible[row * map.cols + col] === 1;
            assert.equal(lines(picture, cell), sees ? 'none' : 'one way', where);
            if (!sees) continue;
            const got = middle(picture, box, map, row, col);
            const want = middle(wanted.picture, wanted.box, map, row, col);
            const off = Math.max(...got.map((value, part) => Math.abs(value - want[part])));
            assert.ok(off <= 6, `${where}: ${got} on paper, ${want} on the screen`);
          }
        }

        assert.deepEqual([wanted.rows.length, wanted.rows], [map.rows, wanted.columns], 'labels on the screen');
        assertLabels(words, box, wanted.rows);

        const text = squeezed(words.map((word) => word.text).join(''));
        // Not every browser records which Chinese characters it draws.
        const said = lang === 'en' ? [squeezed(wanted.sentence)] : wanted.sentence.match(/[\w[\]]+/g);
        for (const part of said) assert.ok(text.includes(part), `“${part}” of the sentence is not in: ${text}`);
        const [low, high] = [wanted.numbers[0], wanted.numbers.at(-1)].map((number) => words.find((word) => word.text === number));
        assert.ok(low && high, `the numbers ${wanted.numbers} are not on the paper`);
        const bar = { x: low.right + 8, y: low.top + 4, width: high.left - low.right - 16, height: low.bottom - low.top - 8 };
        for (const key of Object.keys(bar)) bar[key] *= SCALE;
        assert.ok(bar.width > 60 * SCALE, 'the numbers are not at the ends of the legend');
        assert.ok(colours(PNG.sync.write(picture), bar).count > 60, 'the legend has no colours');

        // Afterwards the page is as it was, and goes on.
        const later = await screen(page);
        assert.deepEqual([later.rows, later.columns], [wanted.rows, wanted.columns]);
        later.places.forEach((place, row) => assert.ok(Math.abs(place - wanted.places[row]) < 0.02, `row ${row} is labelled at ${place}`));
        assert.equal(await page.$$eval('.map canvas', (all) => all.length), 1, 'the copy stays');
        const next = fragment.replace('w=3', 'w=4');
        await judge(await show(page, next), next);
        assertQuiet(page, server.origin);
        await page.close();
      });
    }

    test('from a phone too, with labels that had no room there, and what is locked and signed', async () => {
      const page = await openPage(browser, server.url, { lang: 'en', viewport: PHONE });
      await assertComputes(page, engine);
      const fragment = 'v=1&m=cjar&reading=product&s=0.5&s.decay=0.3&cell=3.5';
      const map = await show(page, fragment);
      await page.waitForFunction(() => /A = /.test(document.querySelector('.readout').textContent));
      const wanted = await screen(page);
      const readout = await page.$eval('.readout', (it) => it.innerText);
      const { sheets, picture, words } = await print(page);
      assert.equal(sheets, 1, 'sheets');
      const box = mapOn(picture);
      assertLabels(words, box, TOKENS, [3, 5]);
      for (let row = 0; row < map.rows; row++) {
        for (let col = 0; col < map.cols; col++) {
          if (row === 3 && col === 5) continue; // Under the ring.
          const [got, want] = [middle(picture, box, map, row, col), middle(wanted.picture, wanted.box, map, row, col)];
          assert.ok(got.every((value, part) => Math.abs(value - want[part]) <= 6), `row ${row}, column ${col}: ${got} on paper, ${want} on the screen`);
        }
      }
      assert.ok(squeezed(words.map((word) => word.text).join('')).includes(squeezed(readout)), readout);
      await page.close();
    });
  });
}

for (const name of BROWSERS) {
  test(`${name}: an embed prints its map in the page of its host`, async () => {
    const server = await serve(DIST);
    const browser = await launch(name);
    const fragment = 'v=1&m=window&w=3&show=window';
    const page = await openPage(browser, new URL(built('boot.js'), server.url).href);
    await page.evaluate((src) => {
      document.body.innerHTML = `<iframe sandbox="allow-scripts" style="border:0;width:660px;height:560px" src="${src}"></iframe>`;
    }, `${server.url}embed.html#${fragment}`);
    const frame = await page.waitForFrame((it) => it.url().includes('embed.html'));
    await assertComputes(frame);
    const map = await readMap(frame);
    const { picture } = await print(page);
    const box = mapOn(picture);
    // Brightness follows the weight: a row's largest weight is its brightest cell.
    for (let row = 0; row < map.rows; row++) {
      const weights = [...map.values.subarray(row * map.cols, (row + 1) * map.cols)];
      const light = weights.map((_, col) => (map.visible[row * map.cols + col] ? middle(picture, box, map, row, col)[0] : -1));
      const largest = weights.indexOf(Math.max(...weights));
      assert.equal(light.indexOf(Math.max(...light)), largest, `row ${row}: ${light}`);
      assert.ok(light[largest] > 100, `row ${row}: ${light}`);
    }
    await browser.close();
    await server.close();
  });
}
