// Links whose weights are known independently of this project: `cases/links.json` has them by row and
// key. On the graphics device and on the CPU, in both browsers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, judge, launch, openPage, show } from './harness.mjs';
import { serve } from './server.mjs';

const { tolerance, links } = JSON.parse(
  readFileSync(fileURLToPath(new URL('cases/links.json', import.meta.url)), 'utf8'),
);

/** Links at the ends of their ranges, each equal to a plain one: what all keys share changes nothing. */
const SHARED = {
  'v=1&src=random.24.1&m=cjar&scale=1&pk=1000&pk.each=0': 'v=1&src=random.24.1&m=cjar&scale=1',
  'v=1&src=random.24.1&m=cjar&scale=5&pk=1000&pk.each=0': 'v=1&src=random.24.1&m=cjar&scale=5',
  'v=1&m=cjar&reading=softmax&pk=-1000&pk.each=0&pk.shape=onehot': 'v=1&m=cjar&reading=softmax',
};

/** Links at the ends of their ranges, compared with the f64 reference. */
const EXTREME = [
  'v=1&m=cjar&s=1000&s.decay=0&s.bump=1000&s.width=1000000',
  'v=1&m=cjar&s=-1000&s.decay=0&s.bump=1000&s.width=1000000&pk=2',
  'v=1&m=cjar&s=1&s.slope=1000&s.decay=0&inwin=1&w=3',
  'v=1&m=cjar&s=1000&s.decay=0&s.bump=1000&s.width=1000000&seg=5',
  'v=1&src=random.40.1&head=1&m=cjar&scale=5&pk=5',
  'v=1&src=random.40.1&head=1&m=cjar&reading=product&pk=1000&pk.each=0&s=1',
  'v=1&src=random.40.1&head=1&m=cjar&pk=1000&pk.each=0&map=score',
];

const bits = (values) => [...new Uint32Array(values.buffer, values.byteOffset, values.length)];

function holds(map, { about, pairs, rows = {} }) {
  const visible = map.visible.reduce((sum, share) => sum + share, 0);
  if (pairs !== undefined) assert.equal(visible, pairs, `${about}: visible cells`);
  for (const [row, weights] of Object.entries(rows)) {
    for (let key = 0; key < map.cols; key++) {
      const got = map.values[Number(row) * map.cols + key];
      const want = weights[key] ?? 0;
      assert.ok(Math.abs(got - want) <= tolerance, `${about}: row ${row}, key ${key}: ${got} for ${want}`);
    }
  }
}

for (const name of BROWSERS) {
  for (const [engine, gpu] of [['WebGPU', true], ['CPU', false]]) {
    describe(`${name}, ${engine}`, () => {
      let browser;
      let server;
      let page;
      before(async () => {
        server = await serve(DIST);
        browser = await launch(name, { gpu });
        page = await openPage(browser, server.url);
        await assertComputes(page, engine);
      });
      after(async () => {
        await browser?.close();
        await server?.close();
      });

      test('links give the weights that are known of them', async () => {
        for (const link of links) {
          const map = await show(page, link.link);
          holds(map, link);
          if (link.same_as) {
            const other = await show(page, link.same_as);
            map.values.forEach((value, at) => {
              assert.ok(Math.abs(value - other.values[at]) <= tolerance, `${link.about}: cell ${at}`);
            });
          }
        }
      });

      test('a wrong weight of a link would be seen', async () => {
        const { link, rows } = links.find(({ rows }) => rows?.['10']);
        const map = await show(page, link.replace(/-3/, '-2'));
        assert.throws(() => holds(map, { about: 'one key more', rows }));
      });

      test('a shared P_K moves no weight, bit by bit, however large it is', async () => {
        for (const [link, plain] of Object.entries(SHARED)) {
          const map = await show(page, link);
          assert.deepEqual(bits(map.values), bits((await show(page, plain)).values), link);
        }
      });

      test('the ends of the ranges are held to the reference', async () => {
        for (const link of EXTREME) await judge(await show(page, link), link);
        assertQuiet(page, server.origin);
      });
    });
  }
}
