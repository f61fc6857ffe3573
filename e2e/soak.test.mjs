// The short form of `soak.mjs`: nothing that the page keeps grows, and the device never complains.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { DIST } from './harness.mjs';
import { serve } from './server.mjs';
import { mounts, open, wear } from './soak.mjs';

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let server;
    before(async () => {
      server = await serve(DIST);
      browser = await open(name);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    test('24 random Scenes: no buffer and no memory is left behind', async () => {
      const { early, late, errors } = await wear(browser, server.url, 24);
      assert.deepEqual(errors, []);
      assert.ok(early.live > 0 && early.wasm > 0, 'the counters counted');
      assert.ok(late.live <= early.live, `${early.live} buffers, then ${late.live}`);
      assert.ok(late.bytes <= early.bytes, `${early.bytes} bytes on the device, then ${late.bytes}`);
      // A longer text among the later ones may cost one page of growth.
      assert.ok(late.wasm <= early.wasm * 1.25, `${early.wasm} bytes of memory, then ${late.wasm}`);
    });

    test('4 embeds that come and go all draw', async () => {
      const { drawn, errors } = await mounts(browser, server.url, 4);
      assert.equal(drawn, 4);
      assert.deepEqual(errors, []);
    });
  });
}
