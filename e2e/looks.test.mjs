// How the page looks: sizes, themes, languages; the screenshots of the README.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DESK, DIST, judgePicture, launch, openReady, OUT, PHONE, show } from './harness.mjs';
import { serve } from './server.mjs';

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

    for (const [size, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
      for (const [theme, lang] of [['light', 'en'], ['dark', 'zh']]) {
        test(`${size}, ${theme}, ${lang}: the map is seen in its colours and nothing sticks out`, async () => {
          const page = await openReady(browser, server.url, { viewport });
          await show(page, `v=1&lang=${lang}&theme=${theme}`);
          await page.screenshot({ path: join(OUT, `${size}-${theme}-${lang}-${name}.png`) });
          const { sticking, canvas } = await page.evaluate(() => {
            const largest = [...document.querySelectorAll('canvas')]
              .map((it) => it.getBoundingClientRect().toJSON())
              .sort((a, b) => b.width * b.height - a.width * a.height)[0];
            return {
              sticking: document.documentElement.scrollWidth - document.documentElement.clientWidth,
              canvas: largest,
            };
          });
          assert.ok(sticking <= 0, `the page is ${sticking} px wider than the screen`);
          assert.ok(canvas, 'there is no canvas');
          assert.ok(canvas.y < viewport.height, 'the map is on the first screen');
          assert.ok(Math.min(canvas.width, canvas.height) >= 240, `the map is ${canvas.width} × ${canvas.height}`);
          await judgePicture(page, `v=1&lang=${lang}&theme=${theme}`);
          assertQuiet(page, server.origin);
          await page.close();
        });
      }
    }
  });
}
