// Meaning of the map's colours: the legend's own ticks against pixels of cells whose weights are known
// without any program, with and without WebGPU.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DIST, launch, openPage, ready, show } from './harness.mjs';
import { pixels } from './image.mjs';
import { serve } from './server.mjs';

/** 24 tokens, all scores 0, causal mask: every weight of row i is 1/(i + 1). */
const SHARES = 'v=1&src=sentence.1&causal=1&scale=0';
const LENGTH = 24;
/** The quantity in which a scale is linear. */
const SCALES = { linear: (value) => value, sqrt: Math.sqrt, log: Math.log10 };

/** The legend as a reader sees it: its numbers, and its ticks in screen pixels. */
const legend = (page) =>
  page.evaluate(() => {
    const number = (text) => {
      const [digits, power] = text.replaceAll('−', '-').replace(/^(≤\s|±)/u, '').split(/(?:^|·)10(?=[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])/u);
      const exponent = [...(power ?? '')].map((c) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(c)).map((at) => (at ? at - 1 : '-')).join('');
      return Number(digits || 1) * 10 ** Number(exponent || 0);
    };
    const bar = document.querySelector('.legend-bar').getBoundingClientRect().toJSON();
    const ticks = [...document.querySelectorAll('.legend-tick')]
      .filter((tick) => tick.checkVisibility())
      .map((tick) => {
        const { left, right, top, bottom } = tick.getBoundingClientRect();
        return { text: tick.innerText, value: number(tick.innerText), x: (left + right) / 2, left, right, top, bottom };
      });
    const [low, high] = [...document.querySelectorAll('.legend-number')].map((it) => it.innerText);
    return { bar, ticks, low, high, label: document.querySelector('.legend').ariaLabel };
  });

const apart = (a, b) => Math.max(...a.map((channel, at) => Math.abs(channel - b[at])));

/** The map and the legend as they are on screen. */
async function look(page) {
  const said = await legend(page);
  const map = await page.$eval('.map', (it) => it.getBoundingClientRect().toJSON());
  const at = pixels(await page.screenshot());
  const { bar } = said;
  return {
    ...said,
    /** Colour of the cell in a map of `length` tokens. */
    cell: (row, col, length = LENGTH) =>
      at(map.x + ((col + 0.5) * map.width) / length, map.y + ((row + 0.5) * map.height) / length),
    /** Colour of the bar at a screen pixel. */
    shade: (x) => at(Math.min(Math.max(x, bar.left + 2), bar.right - 3), bar.top + bar.height / 2),
    map,
    at,
  };
}

/** Share of the pixels of a box whose colour is within `near` of the bar's first. */
function dark({ at, shade, bar }, { x, y, width, height }, near) {
  const first = shade(bar.left);
  let [all, hit] = [0, 0];
  for (let row = Math.ceil(y); row < y + height - 1; row++) {
    for (let col = Math.ceil(x); col < x + width - 1; col++) {
      all += 1;
      if (apart(at(col, row), first) <= near) hit += 1;
    }
  }
  return hit / all;
}

for (const name of BROWSERS) {
  for (const gpu of [true, false]) {
    describe(`${name}, ${gpu ? 'WebGPU' : 'without WebGPU'}`, () => {
      let server, browser, page;
      before(async () => {
        server = await serve(DIST);
        browser = await launch(name, { gpu });
        page = await openPage(browser, server.url, { lang: 'en' });
        assert.equal((await ready(page)).backend, gpu ? 'WebGPU' : 'CPU');
      });
      after(async () => {
        await browser?.close();
        await server?.close();
      });

      for (const [scale, axis] of Object.entries(SCALES)) {
        for (const lang of ['en', 'zh']) {
          test(`${scale}, ${lang}: a weight is read off the legend by its colour`, async () => {
            await show(page, `${SHARES}&color=${scale}&lang=${lang}`);
            const seen = await look(page);
            assert.ok(seen.ticks.length >= 2, JSON.stringify(seen.ticks));
            // A straight line through the outer ticks: every other number must lie on it.
            const [first, last] = [seen.ticks[0], seen.ticks.at(-1)];
            const slope = (last.x - first.x) / (axis(last.value) - axis(first.value));
            const place = (value) => first.x + (axis(value) - axis(first.value)) * slope;
            for (const tick of seen.ticks) assert.ok(Math.abs(tick.x - place(tick.value)) < 1, `${tick.text} at ${tick.x}`);
            for (let row = 0; row < LENGTH; row++) {
              const [got, want] = [seen.cell(row, 0), seen.shade(place(1 / (row + 1)))];
              assert.ok(apart(got, want) <= 8, `row ${row}: ${got}, on the bar ${want}`);
            }
            // An error would show: other places of the bar have other colours.
            assert.ok(apart(seen.cell(0, 0), seen.cell(23, 0)) > 60);
            assert.equal(seen.high, '1.000');
            assert.equal(seen.low, scale === 'log' ? '≤\u202f0.001' : '0.000');
          });
        }
      }

      test('equal weights are bright, the legend says how much they are, and dark is 0', async () => {
        const found = {};
        for (const [what, fragment] of [['one', 'v=1&m=window&w=0'], ['even', 'v=1&scale=0']]) {
          await show(page, fragment);
          const seen = await look(page);
          assert.ok(apart(seen.cell(5, 5), seen.shade(seen.bar.right)) <= 8, `${what}: ${seen.cell(5, 5)}`);
          await show(page, `${fragment}&range=unit`);
          found[what] = { low: seen.low, high: seen.high, unit: (await look(page)).cell(5, 5) };
        }
        assert.deepEqual([found.one.low, found.one.high], ['0.000', '1.000']);
        assert.deepEqual([found.even.low, found.even.high], ['0.000', '0.042']);
        // On one range their colours differ as much as their weights.
        assert.ok(apart(found.one.unit, found.even.unit) > 100, JSON.stringify(found));
      });

      test('scores that are all equal: 0 has the middle colour', async () => {
        await show(page, 'v=1&scale=0&map=score');
        const seen = await look(page);
        assert.ok(apart(seen.cell(7, 3), seen.shade((seen.bar.left + seen.bar.right) / 2)) <= 8);
        assert.deepEqual([seen.low, seen.high, seen.ticks.length], ['0.000', '0.000', 0]);
      });

      test('the page of 512 tokens is not black, and neither is its small map', async () => {
        const share = {};
        for (const scale of ['linear', 'auto']) {
          await show(page, `v=1&src=page.1&head=5&color=${scale}`);
          const seen = await look(page);
          const button = await page.$eval('.head:nth-of-type(6)', (it) => it.getBoundingClientRect().toJSON());
          share[scale] = { map: dark(seen, seen.map, 6), small: dark(seen, button, 6) };
        }
        assert.ok(share.linear.map > 0.85, JSON.stringify(share));
        assert.ok(share.auto.map < 0.7, JSON.stringify(share));
        assert.ok(share.auto.small < share.linear.small - 0.2, JSON.stringify(share));
      });

      test('signed weights: both signs have the same scale, and the floor stands at the middle', async () => {
        for (const [scale, middle] of [['linear', /^0$/], ['sqrt', /^0$/], ['log', /^±\d/]]) {
          await show(page, `v=1&m=cjar&reading=product&s=1&color=${scale}`);
          const { bar, ticks, low, high, label } = await look(page);
          assert.equal(low, `−${high}`);
          const center = ticks.find((tick) => Math.abs(tick.x - (bar.left + bar.right) / 2) < 1);
          assert.match(center?.text ?? '', middle, scale);
          const sides = ticks.filter((tick) => tick !== center);
          assert.ok(sides.length >= 2 && sides.length % 2 === 0, JSON.stringify(ticks));
          sides.forEach((tick, at) => assert.equal(tick.value, -sides.at(-1 - at).value));
          if (scale === 'log') assert.match(label, /up to ±\S+ have the colour of 0$/);
        }
      });

      test('ticks have room: none covers another or leaves the legend', async () => {
        for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
          await page.setViewport(size);
          for (const scene of ['src=page.1', 'src=sentence.1', 'm=cjar&reading=product&s=1', 'map=score', 'src=random.2048.1&m=window&w=900', 'map=score&scale=9']) {
            for (const scale of Object.keys(SCALES)) {
              await show(page, `v=1&${scene}&color=${scale}`);
              const { ticks, bar } = await legend(page);
              ticks.slice(1).forEach((tick, at) => assert.ok(tick.left >= ticks[at].right, `${scene} ${scale}: ${tick.text}`));
              for (const tick of ticks) assert.ok(tick.left > bar.left - 24 && tick.right < bar.right + 24 && tick.top >= bar.bottom - 1);
            }
          }
        }
        await page.setViewport({ width: 1440, height: 900 });
      });

      test('the scale is chosen by keyboard, said in both languages, and kept by the link', async () => {
        await show(page, 'v=1&lang=en');
        await page.focus('#colors');
        const chosen = [];
        for (let step = 0; step < 5; step++) {
          await page.keyboard.press('ArrowDown');
          const { color, label } = await page.evaluate(async () => {
            await window.attnscope.settled();
            const scene = new URLSearchParams(window.attnscope.scene());
            return { color: `${scene.get('range')} ${scene.get('color')}`, label: document.querySelector('.legend').ariaLabel };
          });
          chosen.push([color, label.trim()]);
        }
        assert.deepEqual(chosen.map(([color]) => color), ['null linear', 'null sqrt', 'null log', 'unit null', 'unit linear']);
        for (const [at, word] of [/, linear$/, /, square root$/, /, log; values up to \S+ have the colour of 0$/].entries()) assert.match(chosen[at][1], word);
        const texts = () => page.$$eval('#colors optgroup', (all) => all.map((it) => [it.label, it.disabled, ...[...it.children].map((option) => option.innerText.trim())]));
        const english = ['linear (auto)', 'linear', 'square root', 'log'];
        assert.deepEqual(await texts(), [['Range of this map', false, ...english], ['Range 0 – 1', false, ...english]]);
        await show(page, 'v=1&map=score&range=unit&lang=en');
        assert.deepEqual((await texts()).map((group) => group[1]), [false, true], 'scores have no range of their own');
        assert.equal(await page.$eval('#colors', (it) => it.value), 'auto auto');
        await show(page, 'v=1&src=page.1&color=sqrt&lang=zh');
        const chinese = ['对数（自动）', '线性', '平方根', '对数'];
        assert.deepEqual(await texts(), [['范围按本图', false, ...chinese], ['范围 0 – 1', false, ...chinese]]);
        assert.match((await legend(page)).label, /平方根/);
        assert.equal(await page.$eval('#colors', (it) => `${it.value} ${it.labels[0].querySelector('span').innerText}`), 'auto sqrt 颜色：范围与标度');
        const kept = await openPage(browser, `${server.url}#v=1&src=page.1&color=sqrt&lang=zh`);
        await ready(kept);
        assert.equal(await kept.evaluate(() => window.attnscope.scene()), 'v=1&src=page.1&color=sqrt&lang=zh');
        assertQuiet(kept, server.origin);
        await kept.close();
      });

      test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
    });
  }
}
