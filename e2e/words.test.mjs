// The page's words and language: the switch, the browser's preference, links that do not fit, and
// tokens of every script beside the map.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertQuiet, built, DIST, launch, openPage, openReady, OUT, PHONE, problems, ready, ROOT, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

/** Every language file: its name in links, and what it says about itself. */
const LANGUAGES = readdirSync(join(ROOT, 'lang')).map((file) => {
  const words = JSON.parse(readFileSync(join(ROOT, 'lang', file), 'utf8'));
  return { code: file.replace('.json', ''), ...words.language, words };
});

/** Tokens of multilingual models: right-to-left, wide characters, combining marks, and direction controls. */
const TOKENS = [
  'שלום', 'مرحبا', '注意力', '机制', 'ひらがなの長い語', '한국어', '👩‍🔬', 'é', '##ing', '<b>', 'a&b', '\u202eevil', '\u2067turned\u2069', '\u200f', 'עברית ארוכה מאוד', '滑动窗口注意力机制',
];

/** The shipped layer with other tokens. */
function folderOf(tokens) {
  const folder = mkdtempSync(join(tmpdir(), 'attnscope-words-'));
  cpSync(join(DIST, built('data'), 'minilm'), folder, { recursive: true });
  for (const name of ['first.safetensors', 'sentence.x1.safetensors']) {
    const bytes = readFileSync(join(folder, name));
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
    const all = JSON.parse(header.__metadata__.tokens).map((token, at) => tokens[at] ?? token);
    header.__metadata__.tokens = JSON.stringify(all);
    let text = Buffer.from(JSON.stringify(header));
    text = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(join(folder, name), Buffer.concat([size, text, bytes.subarray(8 + length)]));
  }
  return folder;
}

const root = (page) => page.evaluate(() => [document.documentElement.lang, document.documentElement.dir, document.title]);

for (const name of BROWSERS) {
  describe(name, () => {
    let browser;
    let server;
    before(async () => {
      browser = await launch(name);
      server = await serve(DIST);
    });
    after(async () => {
      await browser?.close();
      await server?.close();
    });

    test('every language is asked for by its name in a link and by the tags of browsers', async () => {
      for (const { code, tag, direction, accepts, words } of LANGUAGES) {
        for (const address of [`#v=1&lang=${code}`, ...accepts.map((asked) => `?lang=${asked}-XY`)]) {
          const page = await openPage(browser, server.url + address);
          await ready(page);
          assert.deepEqual(await root(page), [tag, direction, words.page.TITLE], address);
          await page.close();
        }
      }
    });

    test('the first language of the browser that is one of ours is spoken', async () => {
      const page = await openPage(browser, server.url, {
        before: () => Object.defineProperty(Navigator.prototype, 'languages', { get: () => ['tlh', 'zh-TW', 'en'] }),
      });
      await ready(page);
      assert.match((await root(page))[0], /^zh/);
      await page.close();
    });

    test('the switch names every other language in its own words and works by keyboard', async () => {
      const page = await openReady(browser, server.url, { lang: 'en' });
      const seen = new Set([(await root(page))[0]]);
      for (const _ of LANGUAGES) {
        await page.focus('#language');
        const [tag, title, text] = await page.$eval('#language', (it) => [it.lang, it.getAttribute('aria-label'), it.textContent]);
        if (LANGUAGES.length === 2) {
          const next = LANGUAGES.find((it) => it.tag === tag);
          assert.deepEqual([title, text], [next.switch, next.short]);
          await page.keyboard.press('Enter');
        } else {
          await page.keyboard.press('ArrowDown');
        }
        await page.waitForFunction((before) => document.documentElement.lang !== before, {}, [...seen].at(-1)).catch(() => {});
        seen.add((await root(page))[0]);
        if (seen.size === LANGUAGES.length) break;
      }
      assert.deepEqual([...seen].sort(), LANGUAGES.map((it) => it.tag).sort());
      await page.waitForFunction(() => /lang=/.test(location.hash));
      assertQuiet(page, server.origin);
      await page.close();
    });

    test('what does not fit in a link is said with what became of it', async () => {
      const link = '#v=1&m=window&w=99999&w=4&colour=red&reading=loud';
      for (const [lang, wanted] of [
        ['en', ['w=99999 (limited to 65536)', 'w=4 (given twice; the first one counts)', 'colour=red (unknown, left out)', 'reading=loud (not possible here, so bias)']],
        ['zh', ['w=99999（限制为 65536）', 'w=4（重复，以第一个为准）', 'colour=red（未知，已忽略）', 'reading=loud（此处不可用，改用 bias）']],
      ]) {
        const page = await openPage(browser, server.url + link, { lang });
        await waitForProblem(page, /colour/);
        const said = await problems(page);
        for (const part of wanted) assert.ok(said.includes(part), `${part}: ${said}`);
        await page.close();
      }
    });

    test('no number is parted from its sign of percent, and Chinese has its own colons', async () => {
      const page = await openReady(browser, server.url);
      for (const { code, words } of LANGUAGES) {
        const texts = JSON.stringify(words);
        assert.doesNotMatch(texts, /\d %/, code);
        if (code === 'zh') assert.doesNotMatch(texts, /[\u4e00-\u9fff][:;,!?]|[:;,!?][\u4e00-\u9fff]/);
        for (const panel of ['cost', 'output']) {
          await page.evaluate(async (fragment) => {
            window.attnscope.set(fragment);
            await window.attnscope.settled();
          }, `v=1&m=cjar&r=64&panel=${panel}&lang=${code}`);
          const text = await page.evaluate(() => document.body.innerText);
          assert.doesNotMatch(text, /\d %/, `${code}, ${panel}`);
        }
      }
      await page.close();
    });

    test('tokens of every script stand beside the map, isolated and within their room', async () => {
      const folder = folderOf(TOKENS);
      const other = await serve(DIST, { mounts: { [`${built('data')}/minilm`]: folder } });
      try {
        for (const viewport of [undefined, PHONE]) {
          const page = await openReady(browser, other.url, { lang: 'en', viewport });
          const labels = await page.evaluate(() =>
            ['.axis-q', '.axis-k'].flatMap((axis) =>
              [...document.querySelectorAll(`${axis} .tick`)].map((tick) => ({
                text: tick.textContent,
                width: tick.getBBox().width,
                bidi: getComputedStyle(tick).unicodeBidi,
                direction: getComputedStyle(tick).direction,
              })),
            ),
          );
          assert.ok(labels.length > 20, `${labels.length} labels`);
          for (const { text, width, bidi, direction } of labels) {
            assert.doesNotMatch(text, /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/, text);
            assert.ok(width < 100, `“${text}” is ${width} px long`);
            assert.deepEqual([bidi, direction], ['plaintext', 'ltr'], text);
          }
          // On a phone every second token may have a label.
          for (const token of viewport ? ['שלום', '注意力'] : ['שלום', 'مرحبا', '注意力', '<b>']) {
            assert.ok(labels.some(({ text }) => text === token), `${token} is missing`);
          }
          await page.evaluate(async () => {
            window.attnscope.set('v=1&m=window&w=2&cell=0.2');
            await window.attnscope.settled();
          });
          await page.waitForFunction(() => document.querySelector('.readout')?.textContent.includes('注意力'));
          const readout = await page.$eval('.readout', (it) => it.textContent);
          assert.ok(readout.includes('“\u2068שלום\u2069” → key 2 “\u2068注意力\u2069”'), readout);
          await page.screenshot({ path: join(OUT, `tokens-${viewport ? 'phone' : 'desk'}-${name}.png`) });
          assertQuiet(page, other.origin);
          await page.close();
        }
      } finally {
        await other.close();
        rmSync(folder, { recursive: true });
      }
    });

    test('without its code the page still speaks the language that was asked for', async () => {
      server.fault = (path) => (path.endsWith('.wasm') ? { status: 404 } : null);
      for (const { code, tag, words } of LANGUAGES) {
        const page = await openPage(browser, `${server.url}?lang=${tag}#v=1&lang=auto`);
        const sentence = words.start.MISSING.split('{what}')[0];
        await page.waitForFunction((text) => document.getElementById('boot-problem').textContent.startsWith(text), {}, sentence);
        assert.equal(await page.$eval('#boot-problem', (it) => it.lang), tag, code);
        await page.close();
      }
      server.fault = () => null;
      for (const file of ['index', 'embed', 'check']) {
        const html = readFileSync(join(DIST, `${file}.html`), 'utf8');
        for (const { tag, words } of LANGUAGES) {
          const said = words.start[`NOSCRIPT_${file.toUpperCase()}`];
          assert.ok(html.includes(`<p lang="${tag}" dir="ltr">${said}</p>`) || html.includes(`<p lang="${tag}" dir="rtl">${said}</p>`), `${file}, ${tag}`);
        }
      }
    });
  });
}
