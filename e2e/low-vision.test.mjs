// Low vision and other needs: nothing by colour alone, forced colours, reduced motion, 400 % zoom,
// targets large enough to hit.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { PNG } from 'pngjs';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, DESK, DIST, launch, openPage, PHONE, ready, show } from './harness.mjs';
import { lines } from './image.mjs';
import { serve } from './server.mjs';

/** 1280 px at 400 %. */
const ZOOMED = { width: 320, height: 256 };
/** Row 0 is fully masked, (1, 3) is masked, (3, 0) is zero: exp(−2000) is 0 in f64 too. */
const KINDS = 'rect=0.0.4.4&m=cjar&reading=bias&inwin=1&conv=explicit&left=all&right=-1&s=1&s.decay=1000';
const CELLS = { none: [0, 1], masked: [1, 3], zero: [3, 0] };
const SCENES = {
  full: 'm=full&cell=3.5&panel=cell',
  'window, cost': 'm=window&w=3&panel=cost&lesson=window',
  'cjar, output': 'm=cjar&r=64&reading=bias&s=0.5&panel=output&lesson=cjar',
};

const unfold = (page) => page.$$eval('details', (all) => all.forEach((one) => (one.open = true)));

/** Elements whose text is cut off, or that lie beyond the edge of a window that does not scroll. */
const clipped = (page) =>
  page.evaluate(() => {
    const wide = document.documentElement.clientWidth;
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const pen = document.createElement('canvas').getContext('2d');
    for (let text = walker.nextNode(); text; text = walker.nextNode()) {
      const node = text.parentElement;
      if (!text.data.trim() || !node.checkVisibility({ visibilityProperty: true }) || node.closest('.visually-hidden, .skip, option, legend, noscript')) continue;
      if (node.closest('.table, .proof-scroll')) continue; // A table may be wider than a line.
      const range = document.createRange();
      range.selectNodeContents(text);
      const box = range.getBoundingClientRect();
      if (box.width === 0 || getComputedStyle(node).clipPath !== 'none') continue;
      const { overflowX } = getComputedStyle(node);
      const cut = overflowX !== 'visible' && node.scrollWidth > node.clientWidth + 1;
      if (cut || box.right > wide + 1 || box.left < -1) found.push(`${node.className || node.tagName}: ${text.data.slice(0, 40)}`);
    }
    for (const select of document.querySelectorAll('select')) {
      if (!select.checkVisibility()) continue;
      pen.font = getComputedStyle(select).font;
      const room = select.clientWidth - parseFloat(getComputedStyle(select).paddingLeft);
      const needed = pen.measureText(select.selectedOptions[0]?.text ?? '').width;
      if (needed > room) found.push(`select ${select.id}: ${select.selectedOptions[0].text}`);
    }
    return found;
  });

/** Targets smaller than 24 × 24 CSS px; the label of a control is part of its target. */
const small = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('a[href], button, input, select, summary, textarea, [tabindex]')]
      .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.matches('.skip'))
      .map((node) => {
        const boxes = [node, ...(node.labels ?? [])].map((one) => one.getBoundingClientRect());
        const extent = (from, to) => Math.max(...boxes.map((box) => box[to])) - Math.min(...boxes.map((box) => box[from]));
        return { node, wide: extent('left', 'right'), high: extent('top', 'bottom') };
      })
      .filter(({ wide, high }) => wide < 23.9 || high < 23.9)
      .map(({ node, wide, high }) => `${node.outerHTML.slice(0, 120)}: ${wide} × ${high}`),
  );

const sticking = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

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

    for (const [theme, lang] of [['light', 'en'], ['dark', 'zh']]) {
      test(`${theme}, ${lang}: zero, masked and without keys differ in lines and in words`, async () => {
        const page = await openPage(browser, server.url, { viewport: PHONE, lang });
        await ready(page);
        await show(page, `v=1&theme=${theme}&${KINDS}`);
        const map = await page.$eval('.canvas', (canvas) => canvas.getBoundingClientRect().toJSON());
        const picture = PNG.sync.read(Buffer.from(await page.screenshot()));
        const cell = map.width / 4;
        const side = Math.floor(cell * 0.6);
        const seen = {};
        const spoken = {};
        for (const [kind, [row, col]] of Object.entries(CELLS)) {
          const at = (start, index) => Math.round(start + (index + 0.2) * cell);
          seen[kind] = lines(picture, { x: at(map.x, col), y: at(map.y, row), side });
          await show(page, `v=1&theme=${theme}&${KINDS}&cell=${row}.${col}`);
          await page.waitForFunction(() => /[:：]/.test(document.getElementById('map-cell').textContent));
          spoken[kind] = await page.$eval('#map-cell', (words) => words.textContent.split(/[:：]/)[1]);
        }
        assert.deepEqual(seen, { none: 'crossed', masked: 'one way', zero: 'none' });
        const words = lang === 'en' ? [/no key/, /masked/, /^ A = 0\.000/] : [/看不到任何键/, /已掩码/, /^A = 0\.000/];
        Object.values(spoken).forEach((text, at) => words.forEach((word, other) => assert.equal(word.test(text), at === other, text)));
        await page.close();
      });
    }

    for (const lang of ['en', 'zh']) {
      test(`400 % zoom, ${lang}: nothing to scroll sideways, no text cut off, all targets large enough`, async () => {
        const page = await openPage(browser, server.url, { viewport: ZOOMED, lang });
        await ready(page);
        for (const [what, choices] of Object.entries(SCENES)) {
          await show(page, `v=1&${choices}`);
          await unfold(page);
          if (!(await page.$('#table'))) await page.click('#as-table');
          assert.ok((await sticking(page)) <= 0, `${what}: ${await sticking(page)} px too wide`);
          assert.deepEqual(await clipped(page), [], what);
          assert.deepEqual(await small(page), [], what);
          const stays = await page.$eval('.stage', (stage) => getComputedStyle(stage).position);
          assert.equal(stays, 'static', 'the map would lie on what scrolls under it');
        }
        for (const menu of ['scenes', 'share']) {
          await page.$eval(`[popovertarget=${menu}]`, (button) => button.click());
          assert.ok(await page.$eval(`#${menu}`, (box) => box.getBoundingClientRect().bottom <= innerHeight), `${menu} ends below the window`);
          assert.deepEqual(await clipped(page), [], menu);
          await page.keyboard.press('Escape');
        }
        assertQuiet(page, server.origin);
        await page.close();
      });

      test(`400 % zoom, ${lang}: the embed and the self-check`, async () => {
        const page = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=3&show=window,heads,view`, { viewport: ZOOMED, lang });
        await ready(page);
        await page.evaluate(() => window.attnscope.settled());
        await unfold(page);
        for (const what of ['embed', 'self-check']) {
          if (what === 'self-check') {
            await page.goto(`${server.url}check.html?lang=${lang}`);
            await page.waitForSelector('[data-state=done]', { timeout: 90_000 });
          }
          assert.ok((await sticking(page)) <= 0, `${what}: ${await sticking(page)} px too wide`);
          assert.deepEqual(await clipped(page), [], what);
          assert.deepEqual(await small(page), [], what);
        }
        await page.close();
      });
    }

    test('targets are large enough on a desk and on a phone', async () => {
      for (const viewport of [DESK, PHONE]) {
        const page = await openPage(browser, server.url, { viewport, lang: 'en' });
        await ready(page);
        for (const [what, choices] of Object.entries(SCENES)) {
          await show(page, `v=1&${choices}`);
          await unfold(page);
          assert.deepEqual(await small(page), [], `${what}, ${viewport.width} px`);
        }
        await page.close();
      }
    });

    test('an embed on a phone has map and slider on the first screen', async () => {
      const page = await openPage(browser, `${server.url}embed.html#v=1&m=window&w=3&show=window`, { viewport: { width: 390, height: 640 }, lang: 'en' });
      await ready(page);
      await page.evaluate(() => window.attnscope.settled());
      for (const css of ['.canvas', '.slider']) {
        const { y, bottom } = await page.$eval(css, (node) => node.getBoundingClientRect().toJSON());
        assert.ok(y >= 0 && bottom <= 640, `${css} from ${y} to ${bottom}`);
      }
      await page.close();
    });

    test('the cell panel is in sight beside a long listing, and on a phone a line under the map', async () => {
      for (const viewport of [DESK, PHONE]) {
        const page = await openPage(browser, server.url, { viewport, lang: 'en' });
        await ready(page);
        await show(page, 'v=1&m=cjar&cell=3.5&lesson=cjar');
        const css = viewport === DESK ? '.panel .result' : '.readout';
        await page.waitForFunction((at) => document.querySelector(at) && /0\.\d/.test(document.querySelector(at).textContent), {}, css);
        const bottom = await page.$eval(css, (node) => node.getBoundingClientRect().bottom);
        assert.ok(bottom <= viewport.height, `${css} ends at ${bottom}`);
        await page.close();
      }
    });

    test('the map stays where it is whatever the sentence says', async () => {
      const column = { width: 640, height: 540 };
      for (const [file, viewport, lang] of [
        ['', DESK, 'en'],
        ['', DESK, 'zh'],
        ['', PHONE, 'en'],
        ['', PHONE, 'zh'],
        ['embed.html', PHONE, 'en'],
        ['embed.html', column, 'en'],
      ]) {
        const page = await openPage(browser, server.url + file, { viewport, lang });
        await ready(page);
        const places = new Set();
        for (const choices of [
          'm=full',
          'm=window&w=3&pad=2&causal=1',
          'm=cjar&r=64&reading=bias&s=0.5&inwin=1&w=2&pk=0.5&map=score',
          'm=cjar&reading=product&s=0.5&inwin=1&conv=explicit&left=all&right=-1&pad=1',
        ]) {
          await show(page, `v=1&${choices}`);
          places.add(await page.$eval('.canvas', (canvas) => canvas.getBoundingClientRect().y));
        }
        assert.equal(places.size, 1, `${file} ${viewport.width} px, ${lang}: ${[...places]}`);
        await page.close();
      }
    });
  });
}

/** Pages under system preferences: set by the protocol in Chromium, by prefs in Firefox. */
const WISHES = {
  'prefers-reduced-motion': { 'ui.prefersReducedMotion': 1 },
  'forced-colors': { 'browser.display.document_color_use': 2 },
};
for (const name of BROWSERS) describe(`wishes of the system, ${name}`, () => {
  const browsers = [];
  let server;
  before(async () => {
    server = await serve(DIST);
  });
  after(async () => {
    for (const browser of browsers) await browser.close();
    await server?.close();
  });

  /** A page under this preference (`null`: none), and proof that the page sees it. */
  const wishing = async (wish, value) => {
    const browser = await launch(name, { prefs: WISHES[wish] });
    browsers.push(browser);
    const page = await openPage(browser, server.url, { lang: 'en' });
    if (name === 'chromium' && wish) {
      const session = await page.createCDPSession();
      await session.send('Emulation.setEmulatedMedia', { features: [{ name: wish, value }] });
    }
    if (wish) assert.ok(await page.evaluate((query) => matchMedia(query).matches, `(${wish}: ${value})`), `${wish}: ${value}`);
    await ready(page);
    await show(page, 'v=1&m=window&w=3&cell=3.5&lesson=window');
    return page;
  };

  const openMenu = (page) =>
    page.evaluate(() => {
      document.getElementById('scenes').showPopover();
      const moving = document.getAnimations().length;
      document.getElementById('scenes').hidePopover();
      return moving;
    });

  test('less motion: nothing moves', async () => {
    assert.ok((await openMenu(await wishing(null))) > 0, 'a menu appears in steps where motion is welcome');
    const page = await wishing('prefers-reduced-motion', 'reduce');
    assert.equal(await openMenu(page), 0);
    const moving = await page.$$eval('*', (all) =>
      all.filter((node) => {
        const style = getComputedStyle(node);
        const takes = [style.transitionDuration, style.animationDuration].some((time) => time.split(',').some((one) => parseFloat(one) > 0));
        return takes || style.scrollBehavior === 'smooth';
      }).map((node) => node.className),
    );
    assert.deepEqual(moving, []);
  });

  test('forced colours: what is on is seen, texts have the system\'s colour, the map keeps its own', async () => {
    const page = await wishing('forced-colors', 'active');
    const look = (css, pseudo) =>
      page.$eval(
        css,
        (node, part) => {
          const style = getComputedStyle(node, part);
          const { backgroundColor, color, fill, stroke, outlineColor, boxShadow } = style;
          return { backgroundColor, color, fill, stroke, outlineColor, boxShadow };
        },
        pseudo,
      );
    const system = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      const value = (name) => {
        probe.style.color = name;
        return getComputedStyle(probe).color;
      };
      const colours = { text: value('CanvasText'), ground: value('Canvas'), chosen: value('Highlight') };
      probe.remove();
      return colours;
    });
    assert.equal((await look('.tick')).fill, system.text);
    assert.equal((await look('.sentence')).color, system.text);
    assert.equal((await look('.segments .option:has(:checked)')).backgroundColor, system.chosen);
    assert.notEqual((await look('.segments .option:not(:has(:checked))')).backgroundColor, system.chosen);
    const knob = async () => (await look('.switch input', '::after')).backgroundColor;
    const track = async () => (await look('.switch input')).backgroundColor;
    for (const on of [false, true]) {
      await page.$eval('.switch input', (input, to) => input.checked !== to && input.click(), on);
      assert.notEqual(await knob(), await track(), `the knob is not seen on a switch that is ${on ? 'on' : 'off'}`);
    }
    const ring = await look('.ring:not(.cursor)');
    assert.equal(ring.outlineColor, 'rgb(0, 0, 0)');
    assert.match(ring.boxShadow, /rgb\(255, 255, 255\)/);
    await page.focus('#map');
    assert.equal((await look('#map')).outlineColor, system.chosen, 'the focus ring');
  });
});
