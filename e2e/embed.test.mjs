// The embed in a page of another origin: sandboxed, below a subpath, in the middle of a text.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { compare } from './compare.mjs';
import { assertComputes, assertQuiet, DIST, judge, judgePicture, launch, openPage, OUT, readMap, ready, reference, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = 'v=1&m=window&w=3&show=window';
const FRAME = { x: 20, y: 60, width: 640, height: 560 };

/** A host page with one embed; tall enough to scroll. */
const host = (address, sandbox) => `<!doctype html><html lang="en"><meta charset="utf-8"><title>host</title>
<link rel="icon" href="data:,">
<style>:root{color-scheme:light dark} body{margin:0;height:3000px} iframe{position:absolute;left:${FRAME.x}px;top:${FRAME.y}px;width:${FRAME.width}px;height:${FRAME.height}px;border:0}</style>
<iframe ${sandbox} src="${address}" title="an attention map"></iframe>`;

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let site;
    let hosts;
    let folder;
    before(async () => {
      site = await serve(DIST, { prefix: '/docs/tools/attnscope/' });
      folder = mkdtempSync(join(tmpdir(), 'attnscope-host-'));
      hosts = await serve(folder, { isolated: false });
      const address = `${site.url}embed.html#${FRAGMENT}`;
      writeFileSync(join(folder, 'sandboxed.html'), host(address, 'sandbox="allow-scripts"'));
      writeFileSync(join(folder, 'plain.html'), host(address, ''));
      browser = await launch(name);
    });
    after(async () => {
      await browser?.close();
      await site?.close();
      await hosts?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const frameOf = async (page) => page.waitForFrame((frame) => frame.url().includes('embed.html'), { timeout: 30_000 });

    for (const kind of ['sandboxed', 'plain']) {
      test(`${kind}: it draws, with the right numbers, from a subpath of another origin`, async () => {
        const page = await openPage(browser, `${hosts.url}${kind}.html`);
        const frame = await frameOf(page);
        await assertComputes(frame);
        assert.equal(await frame.evaluate(() => window.attnscope.scene()), FRAGMENT);
        await judge(await readMap(frame), FRAGMENT);
        await page.screenshot({ path: join(OUT, `embed-${kind}-${name}.png`) });
        await judgePicture(page, FRAGMENT, frame, FRAME);
        assertQuiet(page, site.origin, hosts.origin);
        await page.close();
      });
    }

    test('the copied code: a click on the link of its frame opens the full page in a tab of its own', async () => {
      const page = await openPage(browser, `${site.url}#${FRAGMENT}`, {
        before: () => {
          globalThis.copies = [];
          navigator.clipboard.writeText = async (text) => void globalThis.copies.push(text);
        },
      });
      await ready(page);
      await page.click('button[popovertarget="share"].menu-button');
      await page.click('#copy-embed');
      await page.waitForFunction(() => globalThis.copies.length > 0);
      const code = await page.evaluate(() => globalThis.copies[0]);
      assert.match(code, /^<iframe .*sandbox="allow-scripts /);
      assert.doesNotMatch(code, /allow-same-origin/);
      writeFileSync(join(folder, 'copied.html'), `<!doctype html><html lang="en"><meta charset="utf-8"><title>copied</title><link rel="icon" href="data:,">${code}`);
      await page.goto(`${hosts.url}copied.html`);
      const frame = await frameOf(page);
      await assertComputes(frame);
      assert.equal(await frame.evaluate(() => self.origin), 'null', 'the frame is a sandbox');
      const opened = new Promise((done, fail) => {
        browser.once('targetcreated', done);
        setTimeout(() => fail(new Error('the link opens no tab')), 15_000);
      });
      await (await frame.$('a.full-page')).click();
      const tab = await (await opened).page();
      await ready(tab);
      await tab.evaluate(() => window.attnscope.settled());
      assert.equal(await tab.evaluate(() => window.attnscope.scene()), FRAGMENT);
      // No longer in the frame's sandbox.
      assert.equal(await tab.evaluate(() => self.origin), site.origin);
      assert.ok(await tab.$('#self-check'), 'the full page');
      assertQuiet(page, site.origin, hosts.origin);
      await tab.close();
      await page.close();
    });

    describe('in a page that is cross-origin isolated', () => {
      let isolated;
      before(async () => {
        isolated = await serve(folder);
        isolated.headers = { 'Cross-Origin-Opener-Policy': 'same-origin' };
      });
      after(() => isolated?.close());

      for (const kind of ['sandboxed', 'plain']) {
        test(`${kind}: it draws, and its workers answer`, async () => {
          const page = await openPage(browser, `${isolated.url}${kind}.html`);
          assert.equal(await page.evaluate(() => self.crossOriginIsolated), true, 'the page is not isolated');
          const frame = await frameOf(page);
          await assertComputes(frame);
          const map = await readMap(frame);
          compare(map.values, (await reference(FRAGMENT)).values, 'isolated');
          await frame.waitForFunction(() => window.attnscope.summary() !== null, { timeout: 60_000 });
          assertQuiet(page, site.origin, isolated.origin);
          await page.close();
        });
      }

      test('the CPU engine draws in it as well', async () => {
        const spare = await launch(name, { gpu: false });
        const page = await openPage(spare, `${isolated.url}sandboxed.html`);
        const frame = await frameOf(page);
        await assertComputes(frame, 'CPU');
        compare((await readMap(frame)).values, (await reference(FRAGMENT)).values, 'isolated, CPU');
        await spare.close();
      });

      test('a host that does not send the headers is blocked: they are what lets it in', async () => {
        const closed = await serve(DIST, { isolated: false });
        writeFileSync(join(folder, 'empty.html'), host('about:blank', ''));
        const [shut, open] = [closed, site].map(({ url }) => `${url}embed.html#${FRAGMENT}`);
        /** Adds frames one after the other: a navigation would wait forever for a blocked one. */
        const add = (page, ...addresses) =>
          page.evaluate((all) => {
            for (const src of all) document.body.append(Object.assign(document.createElement('iframe'), { src, sandbox: 'allow-scripts' }));
          }, addresses);
        const within = (page, { url }) => page.waitForFrame((frame) => frame.url().startsWith(url), { timeout: 30_000 });

        const page = await browser.newPage();
        await page.goto(`${isolated.url}empty.html`);
        await add(page, shut, open);
        await assertComputes(await within(page, site));
        // It came first; while the other one drew, not even its script was requested.
        assert.deepEqual(closed.paths, ['/embed.html']);
        await page.close();
        // The same frame in a page that is not isolated.
        const other = await browser.newPage();
        await other.goto(`${hosts.url}empty.html`);
        await add(other, shut);
        await assertComputes(await within(other, closed));
        await other.close();
        await closed.close();
      });
    });

    test('a message of the page around it changes nothing', async () => {
      const page = await openPage(browser, `${hosts.url}sandboxed.html`);
      const frame = await frameOf(page);
      await assertComputes(frame);
      await frame.evaluate(() => {
        window.heard = [];
        addEventListener('message', ({ data }) => window.heard.push(data));
      });
      await page.evaluate(() => {
        const to = document.querySelector('iframe').contentWindow;
        for (const message of ['v=1&m=full', '#v=1&m=full', { scene: 'v=1&m=full' }, { type: 'attnscope:set', fragment: 'v=1&m=full' }, null, new ArrayBuffer(8), 'last']) {
          to.postMessage(message, '*');
        }
      });
      await frame.waitForFunction(() => window.heard.at(-1) === 'last');
      await frame.evaluate(() => window.attnscope.settled());
      assert.equal(await frame.evaluate(() => window.attnscope.scene()), FRAGMENT);
      assertQuiet(page, site.origin, hosts.origin);
      await page.close();
    });

    test('a host that does not let it load says how to mend that', async () => {
      const closed = await serve(DIST, { cors: false });
      writeFileSync(join(folder, 'closed.html'), host(`${closed.url}embed.html#lang=zh`, 'sandbox="allow-scripts"'));
      const page = await openPage(browser, `${hosts.url}closed.html`);
      const frame = await frameOf(page);
      assert.match(await waitForProblem(frame, /Access-Control-Allow-Origin/), /沙盒/);
      await page.close();
      await closed.close();
    });

    test('the wheel over it scrolls the page around it', async () => {
      const page = await openPage(browser, `${hosts.url}sandboxed.html`);
      await assertComputes(await frameOf(page));
      await page.mouse.move(FRAME.x + FRAME.width / 2, FRAME.y + FRAME.height / 2);
      // The frame's content may be taller than the frame and scrolls first; then the page must scroll.
      for (let turn = 0; turn < 8 && (await page.evaluate(() => window.scrollY)) < 100; turn++) {
        await page.mouse.wheel({ deltaY: 300 });
        await new Promise((done) => setTimeout(done, 500));
      }
      assert.ok((await page.evaluate(() => window.scrollY)) >= 100, 'the wheel is trapped');
      await page.close();
    });

    test('it follows the reader\'s light and dark', async () => {
      const page = await openPage(browser, `${hosts.url}sandboxed.html`);
      const frame = await frameOf(page);
      await assertComputes(frame);
      const ground = () => frame.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const brightness = (colour) => Math.max(...colour.match(/\d+/g).slice(0, 3).map(Number));
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]).catch(() => {});
      const light = await ground();
      if (name === 'firefox') {
        // WebDriver BiDi cannot emulate the colour scheme here, so this tests the scene's own choice.
        await frame.evaluate(() => window.attnscope.set('v=1&theme=dark'));
      } else {
        await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
      }
      await frame.waitForFunction((old) => getComputedStyle(document.body).backgroundColor !== old, { timeout: 10_000 }, light);
      const dark = await ground();
      assert.ok(brightness(light) > 200 && brightness(dark) < 60, `${light}, then ${dark}`);
      await page.close();
    });
  });
}
