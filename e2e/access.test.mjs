// Access: axe-core over every panel, theme and language; the keyboard alone reaches and does
// everything; the map is a grid that speaks token, token, weight.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import axe from 'axe-core';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DESK, DIST, launch, openPage, PHONE, ready, show } from './harness.mjs';
import { serve } from './server.mjs';

/** Every panel, and what opens it. */
const PANELS = {
  'full, cell': 'm=full&cell=3,5',
  'window, cost': 'm=window&w=3&panel=cost',
  'cjar, output': 'm=cjar&r=64&panel=output&reading=bias&s=0.5&s.decay=0.3',
  'product, signed': 'm=cjar&reading=product&s=0.5&s.decay=0.3',
};

/** What axe finds wrong, one line a node. */
async function violations(page) {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`),
    );
  });
}

const unfold = (page) => page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));

/** Role, name and extent of what has the focus. */
const focused = (page) =>
  page.evaluate(() => {
    const node = document.activeElement;
    const label = (id) => document.getElementById(id)?.textContent ?? '';
    const name =
      node.getAttribute('aria-label') ??
      node.getAttribute('aria-labelledby')?.split(' ').map(label).join(' ') ??
      [...(node.labels ?? [])].map((one) => one.textContent).join(' ');
    const box = node.getBoundingClientRect();
    const style = getComputedStyle(node);
    return {
      tag: node.tagName.toLowerCase(),
      id: node.id,
      name: (name || node.textContent).trim(),
      outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
      height: box.height,
    };
  });

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

    for (const [theme, lang, viewport] of [['light', 'en', DESK], ['dark', 'zh', DESK], ['dark', 'en', PHONE], ['light', 'zh', PHONE]]) {
      test(`axe finds nothing: ${theme}, ${lang}, ${viewport.width} px wide`, async () => {
        const page = await openPage(browser, `${server.url}#v=1&theme=${theme}`, { viewport, lang });
        await ready(page);
        for (const [panel, choices] of Object.entries(PANELS)) {
          await show(page, `v=1&theme=${theme}&${choices}`);
          await unfold(page);
          assert.deepEqual(await violations(page), [], panel);
        }
        assertQuiet(page, server.origin);
        await page.close();
      });
    }

    test('axe finds nothing in the embed and in the self-check', async () => {
      const page = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=3`, { lang: 'en' });
      await ready(page);
      await page.evaluate(() => window.attnscope.settled());
      assert.deepEqual(await violations(page), []);
      await page.goto(`${server.url}check.html?lang=zh&theme=dark`);
      await page.waitForSelector('[data-state=done]', { timeout: 60_000 });
      assert.deepEqual(await violations(page), []);
      await page.close();
    });

    test('Tab reaches every control once, each with a name and a ring', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      await show(page, 'v=1&m=cjar&reading=bias&s=0.5');
      await unfold(page);
      const wanted = await page.$$eval(
        'button, input, select, summary, a[href], [tabindex="0"]',
        (all) =>
          all.filter((node) => {
            const radio = node.type === 'radio' && !node.checked;
            return !node.disabled && !radio && node.tabIndex >= 0 && node.checkVisibility() && !node.closest('[popover]');
          }).length,
      );
      await page.evaluate(() => {
        document.activeElement?.blur();
        globalThis.seen = new Set();
      });
      let reached = 0;
      for (let step = 0; step < 2 * wanted; step++) {
        await page.keyboard.press('Tab');
        const isNew = await page.evaluate(() => {
          const node = document.activeElement;
          if (node === document.body || globalThis.seen.has(node)) return false;
          globalThis.seen.add(node);
          return true;
        });
        if (!isNew) continue;
        reached += 1;
        const control = await focused(page);
        assert.ok(control.name.length > 0, `${control.tag}#${control.id} has no name`);
        assert.ok(control.outline, `no ring around ${control.tag} “${control.name}”`);
      }
      assert.ok(reached >= wanted, `${reached} of ${wanted} controls`);
      await page.close();
    });

    test('the map is a grid with one tab stop that speaks token, token, weight', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      const grid = () =>
        page.$eval('#map', (map) => {
          const cell = document.getElementById(map.getAttribute('aria-activedescendant'));
          return {
            role: map.getAttribute('role'),
            rows: Number(map.getAttribute('aria-rowcount')),
            row: Number(cell?.parentElement.getAttribute('aria-rowindex')),
            col: Number(cell?.getAttribute('aria-colindex')),
            words: cell?.textContent ?? '',
          };
        });
      await page.focus('#map');
      const press = async (key, modifier) => {
        if (modifier) await page.keyboard.down(modifier);
        await page.keyboard.press(key);
        if (modifier) await page.keyboard.up(modifier);
        const { row, col } = await grid();
        return [row, col];
      };
      await press('ArrowDown');
      assert.deepEqual(await press('Home', 'Control'), [1, 1]);
      assert.deepEqual(await press('ArrowDown'), [2, 1]);
      assert.deepEqual(await press('ArrowRight'), [2, 2]);
      assert.deepEqual(await press('End'), [2, 24]);
      assert.deepEqual(await press('Home'), [2, 1]);
      assert.deepEqual(await press('PageDown'), [24, 1]);
      assert.deepEqual(await press('PageUp'), [1, 1]);
      assert.deepEqual(await press('End', 'Control'), [24, 24]);
      await page.waitForFunction(() => /0\.\d/.test(document.getElementById('map-cell').textContent));
      const { role, rows, words } = await grid();
      assert.equal(role, 'grid');
      assert.equal(rows, 24);
      assert.match(words, /\[SEP\].*\[SEP\].*0\.\d+/s, 'token, token, weight');
      await page.keyboard.press('Enter');
      assert.equal(await page.$eval('#map-cell', (cell) => cell.getAttribute('aria-selected')), 'true');
      await page.close();
    });
  });
}
