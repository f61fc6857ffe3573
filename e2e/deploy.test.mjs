// A new build is deployed while a page of the old one is open: the page goes on with the files of its
// own build, a reload takes the new ones, and no page ever mixes the two.
import assert from 'node:assert/strict';
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';

import { hashNames } from '../build/hash.mjs';
import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertQuiet, DIST, judge, launch, openPage, problems, readMap, ROOT, show, waitForProblem, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

const HASH = /-[0-9a-f]{10}(?=\.)/g;
const FRAGMENT = 'v=1&src=paragraph.1&m=window&w=7';
const CASE = join(ROOT, 'tests', 'golden', 'minilm-sentence-window.safetensors');

/** Every file below `dir` except the pages, as a path on the site. */
const filesOf = (dir) =>
  new Set(
    readdirSync(dir, { recursive: true })
      .filter((name) => !name.endsWith('.html') && !name.startsWith('.') && statSync(join(dir, name)).isFile())
      .map((name) => `/${name.replaceAll('\\', '/')}`),
  );

/** Turns the build in `dir` into another one: every file has other contents and therefore another name. */
function rebuild(dir) {
  const data = readdirSync(join(dir, 'data'))[0];
  renameSync(join(dir, 'data', data), join(dir, 'moved'));
  rmSync(join(dir, 'data'), { recursive: true });
  renameSync(join(dir, 'moved'), join(dir, 'data'));
  writeFileSync(join(dir, 'data', 'NEW'), 'another build');
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (/\.(js|css|html)$/.test(name)) writeFileSync(path, readFileSync(path, 'utf8').replace(HASH, ''));
    if (/\.(js|css)$/.test(name)) appendFileSync(path, '\n/* another build */\n');
    // A custom section without a name, which every engine ignores.
    if (name.endsWith('.wasm')) appendFileSync(path, Buffer.from([0, 1, 0]));
    renameSync(path, join(dir, name.replace(HASH, '')));
  }
  hashNames(dir);
}

for (const name of BROWSERS) {
  describe(name, () => {
    const folder = mkdtempSync(join(tmpdir(), 'attnscope-deploy-'));
    const [next, site] = [join(folder, 'next'), join(folder, 'site')];
    let browser;
    let server;
    let [oldFiles, newFiles] = [];
    before(async () => {
      cpSync(DIST, next, { recursive: true });
      rebuild(next);
      [oldFiles, newFiles] = [filesOf(DIST), filesOf(next)];
      browser = await launch(name);
    });
    after(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true });
    });
    beforeEach(async () => {
      cpSync(DIST, site, { recursive: true });
      server = await serve(site);
      // As docs/hosting.md says.
      server.cacheControl = (path) => (newFiles.has(path) || oldFiles.has(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
    });
    afterEach(async () => {
      await server?.close();
      rmSync(site, { recursive: true });
    });

    const deploy = () => cpSync(next, site, { recursive: true });
    /** Requests since the last call, without the pages. */
    const asked = () => server.paths.splice(0).filter((path) => !path.endsWith('.html') && path !== '/');
    const assertAll = (files, paths) => assert.deepEqual(paths.filter((path) => !files.has(path)), []);
    const loseDevice = (page) =>
      page.evaluate(() => {
        GPU.prototype.requestAdapter = async () => null;
        window.devices.at(-1).destroy();
      });
    const watch = () => {
      window.devices = [];
      const request = GPUAdapter.prototype.requestDevice;
      GPUAdapter.prototype.requestDevice = async function (...args) {
        const device = await request.apply(this, args);
        window.devices.push(device);
        return device;
      };
    };

    test('the two builds share no file', () => {
      assert.equal(oldFiles.size + 1, newFiles.size);
      assertAll(new Set([...newFiles].filter((file) => !oldFiles.has(file))), [...newFiles]);
      for (const file of [...oldFiles, ...newFiles]) assert.match(file, /-[0-9a-f]{10}\.|^\/data\/[0-9a-f]{10}\//);
    });

    test('a page of the old build goes on with its files, a reload takes the new ones', async () => {
      const page = await openPage(browser, server.url, { before: watch, lang: 'en' });
      await assertComputes(page);
      assertAll(oldFiles, asked());
      deploy();
      await judge(await show(page, FRAGMENT), FRAGMENT);
      await loseDevice(page);
      await waitForState(page, 'cpu');
      await judge(await readMap(page), FRAGMENT);
      const late = asked();
      assertAll(oldFiles, late);
      for (const wanted of [/^\/cpu-/, /^\/cpu_bg-/, /^\/data\//]) assert.ok(late.some((path) => wanted.test(path)), `${wanted} of ${late}`);
      assert.equal(await problems(page), '');
      await page.reload({ waitUntil: 'load' });
      await assertComputes(page);
      await judge(await show(page, FRAGMENT), FRAGMENT);
      const reloaded = asked();
      assertAll(newFiles, reloaded);
      for (const wanted of [/^\/boot-/, /^\/attnscope-/, /^\/attnscope_bg-/, /^\/style-/]) assert.ok(reloaded.some((path) => wanted.test(path)), `${wanted}`);
      assertQuiet(page, server.origin);
      await page.close();
    });

    test('a self-check of the old build reads the data of its own, and a reload takes the new one', async () => {
      const choose = async (page) => {
        await page.waitForSelector('[data-state=done]', { timeout: 60_000 });
        const input = await page.$('input[type=file]');
        await input.uploadFile(CASE);
        await page.waitForFunction(() => document.querySelector('[data-state=done] [data-case]'), { timeout: 60_000 });
        for (const holds of await page.$$eval('[data-case]', (all) => all.map((row) => row.dataset.holds))) assert.equal(holds, 'true');
      };
      const page = await openPage(browser, `${server.url}check.html`, { lang: 'en' });
      await page.waitForSelector('[data-state=done]', { timeout: 60_000 });
      deploy();
      await choose(page);
      const old = asked();
      assertAll(oldFiles, old);
      assert.ok(old.some((path) => path.startsWith('/data/')), `${old}`);
      await page.reload({ waitUntil: 'load' });
      await choose(page);
      assertAll(newFiles, asked());
      assertQuiet(page, server.origin);
      await page.close();
    });

    for (const html of ['index.html', 'embed.html']) {
      test(`${html}, deployed between the page and its script: all is of the old build`, async () => {
        server.fault = (path) => {
          if (path.startsWith('/boot-')) deploy();
          return null;
        };
        const context = await browser.createBrowserContext();
        const page = await openPage(context, server.url + html, { lang: 'en' });
        await assertComputes(page);
        const all = asked();
        assert.ok(all.some((path) => path.startsWith('/boot-')), `${all}`);
        assertAll(oldFiles, all);
        assertQuiet(page, server.origin);
        await context.close();
      });
    }

    test('the old files are gone: the page says so and to load it again, and that works', async () => {
      const page = await openPage(browser, server.url, { before: watch, lang: 'en' });
      await assertComputes(page);
      for (const file of oldFiles) rmSync(join(site, file));
      deploy();
      await page.evaluate(() => window.attnscope.set('v=1&src=page.4'));
      await waitForProblem(page, /could not be loaded \(status 404\).*load the page again/);
      await page.evaluate((text) => window.attnscope.set(text), 'v=1');
      await page.evaluate(() => window.attnscope.settled());
      await loseDevice(page);
      await waitForProblem(page, /The CPU engine cannot draw.*load the page again/i);
      await page.reload({ waitUntil: 'load' });
      await assertComputes(page);
      await page.close();
    });
  });
}
