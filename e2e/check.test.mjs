// The self-check page: every golden case through the WGSL engine of a real browser, chosen files, files
// that are not cases, and the facts behind the "?" of the page.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DIST, launch, openPage, ready, ROOT } from './harness.mjs';
import { serve } from './server.mjs';

const FOLDER = process.env.ATTNSCOPE_GOLDEN ?? join(ROOT, 'tests', 'golden');
const CASES = readdirSync(FOLDER).filter((name) => name.endsWith('.safetensors')).sort();
const FACTS = 13;

const state = (wanted) => `[data-state=${wanted}]`;
const query = (names) => names.map((name) => `case=./golden/${encodeURIComponent(name)}`).join('&');

/** The page's verdicts, row by row. */
const rows = (page) =>
  page.$$eval('[data-case]', (all) =>
    all.map((row) => ({ ...row.dataset, holds: row.dataset.holds === 'true', words: row.textContent })),
  );

/** A case file with these tensors (name → shape); every number is 0.5. */
function draft(tensors, config = {}, metadata = {}) {
  const header = { __metadata__: { config: JSON.stringify({ heads: 1, ...config }), note: 'a draft', ...metadata } };
  let at = 0;
  for (const [name, shape] of Object.entries(tensors)) {
    const bytes = 4 * shape.reduce((all, n) => all * n, 1);
    header[name] = { dtype: 'F32', shape, data_offsets: [at, (at += bytes)] };
  }
  const words = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(words.length));
  const numbers = new Float32Array(at / 4).fill(0.5);
  return Buffer.concat([length, words, Buffer.from(numbers.buffer)]);
}

async function choose(page, ...files) {
  const input = await page.$('input[type=file]');
  await input.uploadFile(...files);
  await page.waitForSelector(state('done'), { timeout: 60_000 });
}

assert.ok(CASES.length > 0, `no case in ${FOLDER}`);

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let server;
    before(async () => {
      server = await serve(DIST, { mounts: { golden: FOLDER } });
      browser = await launch(name);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    test(`all ${CASES.length} golden cases`, async () => {
      const page = await openPage(browser, `${server.url}check.html?${query(CASES)}`);
      await page.waitForSelector(state('done'), { timeout: 300_000 });
      const adapter = await page.$eval('[data-adapter]', (main) => main.dataset.adapter);
      assert.ok(adapter.length > 0, 'computed on a named adapter');
      const found = await rows(page);
      assert.deepEqual([...new Set(found.map((row) => row.case))].sort(), CASES.map((name) => name.replace(/\.safetensors$/, '')));
      for (const row of found) assert.ok(row.holds && Number(row.difference) <= Number(row.allowed), row.words);
      const worst = Math.max(...found.map((row) => Number(row.difference) / Number(row.allowed)));
      console.log(`${adapter}: ${found.length} tensors of ${CASES.length} cases, worst at ${(100 * worst).toFixed(1)} % of what is allowed`);
      assertQuiet(page, server.origin);
      await page.close();
    });

    test('chosen files: right ones, a wrong number, and no case at all', async () => {
      const page = await openPage(browser, `${server.url}check.html`);
      await page.waitForSelector(state('done'), { timeout: 60_000 });
      const folder = mkdtempSync(join(tmpdir(), 'attnscope-'));
      const right = join(ROOT, 'tests', 'golden', 'window-distance-2.safetensors');
      // The file's last number belongs to an expectation.
      const bytes = readFileSync(right);
      bytes.writeFloatLE(bytes.readFloatLE(bytes.length - 4) + 0.01, bytes.length - 4);
      const wrong = join(folder, 'wrong.safetensors');
      writeFileSync(wrong, bytes);
      const cut = join(folder, 'cut.safetensors');
      writeFileSync(cut, bytes.subarray(0, bytes.length / 2));
      await choose(page, right);
      await choose(page, wrong, cut);
      const found = await rows(page);
      const of = (name) => found.filter((row) => row.case === name);
      assert.ok(of('window-distance-2').length > 0 && of('window-distance-2').every((row) => row.holds));
      assert.equal(of('wrong').filter((row) => !row.holds).length, 1, 'one tensor is told as wrong');
      assert.equal(of('cut').length, 1);
      assert.match(of('cut')[0].words, /not a case that can be checked/);
      assertQuiet(page, server.origin);
      await page.close();
    });

    for (const [lang, words] of Object.entries({
      en: {
        alone: 'w_1 is there without w_2', both: 'w_1 and w_o exclude each other', bias: 'b_q is there without w_q',
        two: 'q and x exclude each other', part: 'v is missing', tensor: 'expect.z is not a tensor of a case',
        field: 'window is not a field of config', twice: 'x is given twice',
        large: 'it needs 36000000 numbers in one buffer, and the device allows 33554432',
      },
      zh: {
        alone: '有 w_1，但没有 w_2', both: 'w_1 与 w_o 不能同时给出', bias: '有 b_q，但没有 w_q',
        two: 'q 与 x 不能同时给出', part: '缺少 v', tensor: 'expect.z 不是算例的张量',
        field: 'window 不是 config 的字段', twice: 'x 给出了两次',
        large: '它的一个缓冲区需要 36000000 个数，而设备只允许 33554432 个',
      },
    })) {
      test(`${lang}: cases that would be taken as something else, or that no device holds, are refused by name`, async () => {
        const page = await openPage(browser, `${server.url}check.html`, { lang });
        await page.waitForSelector(state('done'), { timeout: 60_000 });
        const folder = mkdtempSync(join(tmpdir(), 'attnscope-'));
        const [x, head] = [{ x: [3, 2], 'expect.y': [3, 2] }, [1, 3, 2]];
        const heads = { q: head, k: head, v: head, 'expect.o': head };
        const files = Object.entries({
          alone: draft({ ...x, w_1: [1, 2] }),
          both: draft({ ...x, w_o: [2, 2], w_1: [1, 2], w_2: [2, 1] }),
          bias: draft({ ...x, b_q: [2] }),
          two: draft({ ...heads, x: [3, 2] }),
          part: draft({ q: head, k: head, 'expect.o': head }),
          tensor: draft({ ...heads, 'expect.z': [1] }),
          field: draft(heads, { window: 3 }),
          twice: draft(x, {}, { inputs: JSON.stringify(['data/minilm-sentence.safetensors#x.1']) }),
          // T has 60 × 600,000 numbers; the default limit of a device is 2²⁵.
          large: draft({ x: [60, 4], w_1: [600_000, 4], w_2: [4, 600_000], 'expect.y': [60, 4] }),
        }).map(([file, bytes]) => {
          const path = join(folder, `${file}.safetensors`);
          writeFileSync(path, bytes);
          return path;
        });
        await choose(page, ...files);
        const found = await rows(page);
        for (const [file, said] of Object.entries(words)) {
          const own = found.filter((row) => row.case === file);
          assert.equal(own.length, 1, file);
          assert.ok(!own[0].holds && own[0].words.includes(said), `${file}: ${own[0].words}`);
        }
        // The device still works.
        await choose(page, join(ROOT, 'tests', 'golden', 'window-distance-2.safetensors'));
        const right = (await rows(page)).filter((row) => row.case === 'window-distance-2');
        assert.ok(right.length > 0 && right.every((row) => row.holds));
        assertQuiet(page, server.origin);
        await page.close();
      });
    }

    test('addresses: none, of another site, of no file', async () => {
      const wanted = ['', 'http://elsewhere.example/a.safetensors', './nothing%E2%80%AE.safetensors'];
      const address = wanted.map((value) => `case=${encodeURIComponent(value)}`).join('&');
      const page = await openPage(browser, `${server.url}check.html?${address}`, { lang: 'en' });
      await page.waitForSelector(state('done'), { timeout: 60_000 });
      const found = await rows(page);
      assert.equal(found.length, 3);
      assert.ok(found.every((row) => !row.holds));
      assert.match(found[0].words, /could not be loaded/);
      assert.match(found[1].words, /only files of this site/);
      assert.match(found[2].words, /404/);
      assert.ok(!page.origins.has('http://elsewhere.example'), 'nothing was asked of the other site');
      await page.close();
    });

    test('the "?" of the page: every fact has a tick that was computed here', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      await page.focus('#self-check');
      await page.keyboard.press('Enter');
      const handle = await page.waitForSelector('dialog[open] iframe');
      const frame = await handle.contentFrame();
      await frame.waitForSelector(state('done'), { timeout: 60_000 });
      const facts = await frame.$$eval('[data-fact]', (all) => all.map((row) => [row.dataset.fact, row.dataset.holds]));
      assert.equal(facts.length, FACTS);
      for (const [fact, holds] of facts) assert.equal(holds, 'true', fact);
      // From inside the frame, where the dialog itself hears nothing.
      await frame.click('h1');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('dialog[open]') && !document.querySelector('iframe'));
      assertQuiet(page, server.origin);
      await page.close();
    });
  });
}
