// The drawn map against the f64 reference, in both browsers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { PNG } from 'pngjs';

import { BROWSERS } from './browsers.mjs';
import { compare } from './compare.mjs';
import { assertQuiet, coloursOfLegend, judgePicture, opened, readMap, reference, show, slider } from './harness.mjs';
import { middle, place } from './image.mjs';

const TEXTS = { sentence: 24, paragraph: 120, page: 512 };
const MECHANISMS = {
  full: '',
  window: '&m=window&w=4&sinks=1',
  'cjar, bias reading': '&m=cjar&reading=bias&pk=0.7&s=1.5&s.decay=0.3',
  'cjar, product reading in a window': '&m=cjar&reading=product&inwin=1&w=9&causal=1&s=0.8&s.slope=0.05&pk=0.4&pk.each=0',
  'cjar, softmax in segments': '&m=cjar&reading=softmax&seg=16&pk=0.5&pk.shape=sinusoidal',
};

/** Compares a drawn map with the reference; masked cells must be exactly zero. */
function judge(map, want, what) {
  assert.deepEqual([map.rows, map.cols], [want.rows, want.cols], `${what}: size`);
  const error = compare(map.values, want.values, what);
  let masked = 0;
  for (let at = 0; at < want.values.length; at++) {
    const sees = Boolean(want.visible[at]);
    // Not assert.equal: a shader compiler may turn 0 into −0, which is zero as well.
    assert.ok(map.visible[at] === (sees ? 1 : 0), `${what}: cell ${at} has visibility ${map.visible[at]}`);
    if (!sees) {
      masked += 1;
      assert.ok(map.values[at] === 0, `${what}: masked cell ${at} holds ${map.values[at]}`);
    }
  }
  return { ...error, masked };
}

for (const name of BROWSERS) {
  describe(name, () => {
    let server, page;
    opened(name, (made) => ({ server, page } = made));

    for (const [text, length] of Object.entries(TEXTS)) {
      for (const [mechanism, choices] of Object.entries(MECHANISMS)) {
        test(`${text}, ${mechanism}: every cell is the reference's`, async () => {
          // One texel per cell: a long text is read through a rectangle that fits on the screen.
          const rect = length > 200 ? '&rect=200.180.160.200' : '';
          const fragment = `v=1&src=${text}.1${choices}&head=5${rect}`;
          const [map, want] = [await show(page, fragment), await reference(fragment)];
          const { masked } = judge(map, want, fragment);
          if (mechanism.includes('window')) assert.ok(masked > 0, 'a window masks something');
        });
      }
    }

    // The tests above read back what the engine computed; this one reads what it drew.
    for (const [what, choices] of Object.entries({
      ...MECHANISMS,
      'rows without keys': '&m=window&conv=explicit&left=all&right=-1&pad=2',
      'raw scores': '&m=window&w=6&map=score',
      'the range 0 to 1': '&range=unit',
      'a part of the map': '&m=window&w=4&rect=3.5.9.9',
    })) {
      test(`${what}: the canvas shows every cell in the colour of its number`, async () => {
        const fragment = `v=1&src=sentence.1${choices}&head=5`;
        await show(page, fragment);
        await judgePicture(page, fragment);
      });
    }

    test('120 tokens: the canvas shows every cell in the colour of its number', async () => {
      const fragment = 'v=1&src=paragraph.1&m=window&w=30&head=5';
      await show(page, fragment);
      await judgePicture(page, fragment);
    });

    test('the strip: each small map is its own head\'s', async () => {
      const fragment = 'v=1&src=sentence.1&m=full';
      await show(page, fragment);
      const heads = await page.$$eval('.strip .head', (all) => all.map((it) => it.getBoundingClientRect().toJSON()));
      assert.equal(heads.length, 12);
      const stops = await coloursOfLegend(page);
      const picture = PNG.sync.read(Buffer.from(await page.screenshot({ captureBeyondViewport: false })));
      for (const [head, { x, y, width }] of heads.entries()) {
        const want = await reference(`${fragment}&head=${head}`);
        const most = Math.max(...want.values);
        let [right, all] = [0, 0];
        for (let row = 0; row < want.rows; row++) {
          for (let col = 0; col < want.cols; col++) {
            // The head's number covers the lower right corner.
            if (row > 15 && col > 12) continue;
            const { off, t } = place(middle(picture, { x, y, size: width }, want, row, col), stops);
            const value = want.values[row * want.cols + col];
            right += off < 12 && Math.abs(t - value / most) < 0.08;
            all += 1;
          }
        }
        // A pixel between two small cells belongs to one of them.
        assert.ok(right / all > 0.97, `head ${head}: ${right} of ${all} cells have the colour of their number`);
      }
    });

    test('raw scores, another layer and head: every cell is the reference\'s', async () => {
      const fragment = 'v=1&src=sentence.4&m=full&map=score&head=11';
      judge(await show(page, fragment), await reference(fragment), fragment);
    });

    test('all 512 × 512 cells of the page at once are the reference\'s', async () => {
      const fragment = 'v=1&src=page.1&m=cjar&inwin=1&w=200&s=0.4&head=5';
      const map = await show(page, fragment);
      assert.deepEqual([map.rows, map.cols], [512, 512]);
      judge(map, await reference(fragment), fragment);
    });

    test('biases of 9,000 tokens, which come in pieces: every cell of a part is the reference\'s', async () => {
      const part = 'v=1&src=random.9000.1&m=cjar&inwin=1&w=20&rect=4000.3990.40.60';
      for (const biases of ['&pk=0.7&pk.seed=5', '&pk=0.7&pk.seed=6&pk.shape=sinusoidal&pv=0.3']) {
        judge(await show(page, part + biases), await reference(part + biases), biases);
      }
    });

    test('a burst of scenes ends in the newest', async () => {
      await page.evaluate(async () => {
        for (let w = 0; w <= 40; w++) {
          window.attnscope.set(`v=1&src=paragraph.1&m=window&w=${w}`);
          if (w % 4 === 0) await new Promise((next) => requestAnimationFrame(next));
        }
      });
      const fragment = 'v=1&src=paragraph.1&m=window&w=40';
      const map = await readMap(page);
      assert.equal(await page.evaluate(() => window.attnscope.scene()), fragment);
      judge(map, await reference(fragment), fragment);
    });

    test('dragging the window slider ends in the state of the last event', async () => {
      await show(page, 'v=1&src=sentence.1&m=window&w=2');
      const frames = await page.evaluate(() => window.attnscope.frames());
      const handle = await page.waitForSelector(slider('w'));
      const box = await handle.boundingBox();
      const y = box.y + box.height / 2;
      await page.mouse.move(box.x + 3, y);
      await page.mouse.down();
      for (let step = 1; step <= 30; step++) {
        await page.mouse.move(box.x + 3 + ((box.width - 6) * step) / 40, y);
      }
      await page.mouse.up();
      const map = await readMap(page);
      const { fragment, value, drawn } = await page.evaluate(
        (css) => ({
          fragment: window.attnscope.scene(),
          value: document.querySelector(css).value,
          drawn: window.attnscope.frames(),
        }),
        slider('w'),
      );
      const w = Number(new URLSearchParams(fragment).get('w') ?? 2);
      assert.ok(w > 2, `the drag moved the window: ${fragment}`);
      assert.equal(Number(value), w, 'the slider shows the scene');
      assert.ok(drawn > frames, 'frames were drawn');
      judge(map, await reference(fragment), fragment);
    });

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });
}
