// The self-check page: every golden case through the WGSL engine of a real browser, files that are
// chosen, files that are no cases, and the facts behind the "?" of the page.
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

/** What the page says about each case, row by row. */
const rows = (page) =>
  page.$$eval('[data-case]', (all) =>
    all.map((row) => ({ ...row.dataset, holds: row.dataset.holds === 'true', words: row.textContent })),
  );

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
      // The last number of the file is one of an expectation.
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
      // From inside of the frame, where the dialog itself hears nothing.
      await frame.click('h1');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('dialog[open]') && !document.querySelector('iframe'));
      assertQuiet(page, server.origin);
      await page.close();
    });
  });
}
