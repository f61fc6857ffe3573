// Access: axe-core over every panel, theme and language; everything is reachable and usable by keyboard
// alone; the map is a grid that speaks token, token, weight.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import axe from 'axe-core';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DESK, DIST, launch, openPage, PHONE, ready, show } from './harness.mjs';
import { serve } from './server.mjs';

/** Every panel, with what opens it. */
const PANELS = {
  'full, cell': 'm=full&cell=3.5',
  'window, cost': 'm=window&w=3&panel=cost&lesson=window',
  'cjar, output': 'm=cjar&r=64&panel=output&reading=bias&s=0.5&s.decay=0.3&lesson=cjar',
  'product, signed': 'm=cjar&reading=product&s=0.5&s.decay=0.3',
};
const THEMES = ['light', 'dark'];
const LANGUAGES = ['en', 'zh'];
/**
 * Every theme in every language, in Chromium only: axe judges the page's markup, which is the same in
 * Firefox.
 */
const LOOKS = {
  chromium: THEMES.flatMap((theme) => LANGUAGES.map((lang) => [theme, lang])),
  firefox: [['light', 'en'], ['dark', 'zh']],
};

/** axe's findings, one line per node. */
async function violations(page) {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? ''}`),
    );
  });
}

/** Opens everything that is folded: groups of controls, the code, the table. */
async function unfold(page) {
  await page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));
  if (!(await page.$('#table'))) await page.$eval('#as-table', (button) => button.click());
  await page.waitForFunction(() => document.querySelector('#table tbody tr'), { timeout: 20_000 });
}

/** Walks through the page by Tab: every control once, each with a name and a focus ring. */
async function walk(page, where) {
  const wanted = await page.$$eval('button, input, select, summary, a[href], [tabindex="0"]', (all) =>
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
  for (let step = 0; step < 2 * wanted && reached < wanted; step++) {
    await page.keyboard.press('Tab');
    const control = await page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body || globalThis.seen.has(node)) return null;
      globalThis.seen.add(node);
      const label = (id) => document.getElementById(id)?.textContent ?? '';
      const name =
        node.getAttribute('aria-label') ??
        node.getAttribute('aria-labelledby')?.split(' ').map(label).join(' ') ??
        [...(node.labels ?? [])].map((one) => one.textContent).join(' ');
      const style = getComputedStyle(node);
      return {
        what: `${node.tagName.toLowerCase()}#${node.id}`,
        name: (name || node.textContent).trim(),
        outline: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0,
      };
    });
    if (!control) continue;
    reached += 1;
    assert.ok(control.name.length > 0, `${where}: ${control.what} has no name`);
    assert.ok(control.outline, `${where}: no ring around ${control.what} “${control.name}”`);
  }
  assert.equal(reached, wanted, `${where}: so many controls are reached`);
}

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

    for (const [theme, lang] of LOOKS[name]) {
      // Narrow and wide once per theme and once per language.
      const viewport = (theme === 'light') === (lang === 'en') ? DESK : PHONE;
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

      test(`axe finds nothing in the menus, the embed and the self-check: ${theme}, ${lang}`, async () => {
        const page = await openPage(browser, `${server.url}#v=1&theme=${theme}`, { lang });
        await ready(page);
        for (const menu of ['scenes', 'share']) {
          await page.click(`[popovertarget=${menu}]`);
          assert.deepEqual(await violations(page), [], menu);
          await page.keyboard.press('Escape');
        }
        await page.goto(`${server.url}embed.html?lang=${lang}#v=1&m=window&w=3&theme=${theme}`);
        await ready(page);
        await page.evaluate(() => window.attnscope.settled());
        await unfold(page);
        assert.deepEqual(await violations(page), [], 'embed');
        await page.goto(`${server.url}check.html?lang=${lang}&theme=${theme}`);
        await page.waitForSelector('[data-state=done]', { timeout: 90_000 });
        assert.deepEqual(await violations(page), [], 'self-check');
        await page.close();
      });

      test(`Tab reaches every control of every panel once, each with a name and a ring: ${theme}, ${lang}`, async () => {
        for (const [panel, choices] of Object.entries(PANELS)) {
          // A new page: Tab begins at the start, as for a reader who has just opened it.
          const page = await openPage(browser, server.url, { lang });
          await ready(page);
          await show(page, `v=1&theme=${theme}&${choices}`);
          await unfold(page);
          await walk(page, panel);
          await page.close();
        }
      });
    }

    test('every control changes the scene by keys alone', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      const fragment = 'v=1&m=cjar&reading=bias&s=0.5&pk=0.5&pv=0.5&inwin=1&w=3&sinks=1&r=64&rho=8&panel=output&cell=3.5&lesson=cjar';
      // The picture does not matter here, so nothing waits for it.
      const begin = () =>
        page.evaluate(async (text) => {
          window.attnscope.set(text);
          for (let frame = 0; frame < 2; frame++) await new Promise((next) => requestAnimationFrame(next));
          for (const one of document.querySelectorAll('details')) one.open = true;
        }, fragment);
      await show(page, fragment);
      await begin();
      const controls = await page.$$eval('input, select', (all) =>
        all
          .filter((node) => node.checkVisibility() && !node.disabled && !(node.type === 'radio' && !node.checked))
          .map((node) => ({ id: node.id, kind: node.type })),
      );
      assert.ok(controls.length >= 30, `${controls.length} controls`);
      for (const { id, kind } of controls) {
        assert.ok(id, `a ${kind} has no id`);
        const handle = await page.$(`[id="${id}"]`);
        if (!handle) continue; // It was there before the last change.
        await handle.focus();
        const before = await page.evaluate(() => window.attnscope.scene());
        const same = () => page.evaluate((old) => window.attnscope.scene() === old, before);
        // At the end of a range or a list, the only way is back.
        const keys = { checkbox: [' '], number: ['ArrowUp', 'ArrowDown'], 'select-one': ['ArrowDown', 'ArrowUp'] }[kind] ?? ['ArrowRight', 'ArrowLeft'];
        for (const key of keys) {
          await page.keyboard.press(key);
          // A number takes effect on leaving the field.
          if (kind === 'number') await page.keyboard.press('Enter');
          if (!(await same())) break;
        }
        assert.ok(!(await same()), `${kind} #${id} does nothing by keys`);
        await begin();
      }
      assertQuiet(page, server.origin);
      await page.close();
    });

    test('Escape closes menus and the self-check, and gives the focus back', async () => {
      const page = await openPage(browser, server.url, { lang: 'en' });
      await ready(page);
      for (const menu of ['scenes', 'share']) {
        await page.focus(`[popovertarget=${menu}]`);
        await page.keyboard.press('Enter');
        await page.waitForFunction((id) => document.getElementById(id).matches(':popover-open'), {}, menu);
        await page.keyboard.press('Escape');
        await page.waitForFunction((id) => !document.getElementById(id).matches(':popover-open'), {}, menu);
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute('popovertarget')), menu);
      }
      await page.focus('#self-check');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog[open]');
      await page.keyboard.press('Escape');
      await page.waitForFunction(() => !document.querySelector('dialog[open]'));
      assert.equal(await page.evaluate(() => document.activeElement.id), 'self-check');
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
