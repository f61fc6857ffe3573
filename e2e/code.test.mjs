// The present mask in the code of other libraries: shown for every mechanism, and copied whole.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DIST, launch, openPage, ready, show } from './harness.mjs';
import { serve } from './server.mjs';

/** Library → code, as shown. */
const shown = (page) =>
  page.$$eval('.mask-call', (all) =>
    Object.fromEntries(all.map((call) => [call.querySelector('.mask-call-name').textContent, call.querySelector('code').textContent])),
  );

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let server;
    before(async () => {
      server = await serve(DIST);
      browser = await launch(name);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    test('each mask has its calls, and a copy is the whole of one', async () => {
      const page = await openPage(browser, server.url, {
        lang: 'en',
        before: () => {
          // Copies go here: headless browsers differ in what the clipboard lets them read.
          globalThis.copies = [];
          navigator.clipboard.writeText = async (text) => void globalThis.copies.push(text);
        },
      });
      await ready(page);
      await page.click('#mask-code > summary');
      await page.waitForSelector('.mask-call');
      assert.deepEqual(await shown(page), {
        PyTorch: 'F.scaled_dot_product_attention(q, k, v)',
        'PyTorch FlexAttention': 'flex_attention(q, k, v)',
        JAX: 'jax.nn.dot_product_attention(q, k, v)',
      });
      await show(page, 'v=1&m=window&conv=causal_count&w=5');
      const window = await shown(page);
      assert.equal(window['ONNX Runtime'], 'GroupQueryAttention(local_window_size=5)');
      assert.match(window.PyTorch, /mask = \(j - i >= -4\) & \(j - i <= 0\) & \(j <= i\)\n/);
      await show(page, 'v=1&m=window&w=3&sinks=1&scale=model');
      const sinks = await shown(page);
      assert.deepEqual(Object.keys(sinks), ['PyTorch', 'PyTorch FlexAttention'], 'others cannot say it');
      // Python parses doubles as JavaScript does.
      const scale = (code) => Number(/scale=([^,)]+)/.exec(code)[1]);
      assert.equal(scale(sinks.PyTorch), 1 / Math.sqrt(384));
      for (const free of ['0.0000004', '-0.0000004', '1e-30', '0.1', '-10']) {
        await show(page, `v=1&m=full&scale=${free}`);
        const calls = await shown(page);
        assert.deepEqual(Object.keys(calls), ['PyTorch', 'PyTorch FlexAttention', 'JAX']);
        // The Scene holds 32 bits, and the code shows the Scene's value.
        for (const code of Object.values(calls)) assert.equal(scale(code), Math.fround(Number(free)), code);
        assert.equal(Math.fround(Number(new URLSearchParams(await page.evaluate(() => window.attnscope.scene())).get('scale'))), Math.fround(Number(free)));
      }
      await show(page, 'v=1&m=window&w=3&sinks=1&scale=model');
      await page.click('.mask-call button');
      await page.waitForFunction(() => document.querySelector('.mask-call .copied').textContent.length > 0);
      assert.deepEqual(await page.evaluate(() => globalThis.copies), [sinks.PyTorch]);
      assertQuiet(page, server.origin);
      await page.close();
    });
  });
}
