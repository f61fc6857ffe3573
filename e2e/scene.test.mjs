// Scenes: links, starter scenes, any text at all.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { fragments } from './fragments.mjs';
import { assertQuiet, opened, openPage, ready, reference, show } from './harness.mjs';

const LESSONS = ['full', 'window', 'sink', 'bias', 'signed', 'rank'];

/** Every number in a text, with its decimals, ignoring the sign's typography. */
const numbers = (text) => (text.replaceAll('−', '-').match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);

for (const name of BROWSERS) {
  describe(name, () => {
    let browser, server, page;
    opened(name, (made) => ({ browser, server, page } = made));

    test('ten thousand texts each give a scene whose own link is stable', async () => {
      const texts = fragments(10_000);
      const result = await page.evaluate((all) => {
        const wrong = [];
        let warned = 0;
        for (const text of all) {
          const first = window.attnscope.parseFragment(text);
          const second = window.attnscope.parseFragment(first.fragment);
          if (first.warnings > 0) warned += 1;
          if (second.fragment !== first.fragment || second.warnings > 0) wrong.push([text, first, second]);
        }
        return { count: all.length, warned, wrong: wrong.slice(0, 5) };
      }, texts);
      assert.deepEqual(result.wrong, []);
      assert.equal(result.count, 10_000);
      // Noise must be noticed, and not everything is noise.
      assert.ok(result.warned > 1_000 && result.warned < 10_000, `${result.warned} texts had warnings`);
    });

    test('odd scenes are drawn or refused in words, and the page goes on', async () => {
      for (const text of ['v=1&src=sentence.1&rect=20.20.4294967295.9', 'v=1&head=4000000000', 'v=1&m=cjar&seg=1&r=1&rho=1', 'v=7&x=%ff']) {
        const map = await show(page, text);
        assert.ok(map.values.every(Number.isFinite), text);
      }
      assert.ok((await show(page, 'v=1')).values.some((value) => value > 0));
    });

    test('link, page, link is the identity', async () => {
      const links = [
        'v=1&src=paragraph.2&m=window&causal=1&conv=causal_count&w=9&head=3',
        'v=1&src=random.64.7&m=cjar&reading=product&s=-1.25&s.decay=0.125&head=0&map=score',
        'v=1&m=cjar&pk=0.5&pk.each=0&r=32&panel=output&cell=3.4&lang=zh&theme=dark',
      ];
      for (const link of links) {
        const other = await openPage(browser, `${server.url}#${link}`);
        await ready(other);
        const got = await other.evaluate(async () => {
          await window.attnscope.settled();
          return window.attnscope.scene();
        });
        assert.equal(got, link);
        assertQuiet(other, server.origin);
        await other.close();
      }
    });

    /** The scene and the sentence on screen, held against the reference. */
    const assertSentence = async () => {
      const { fragment, sentence } = await page.evaluate(async () => {
        await window.attnscope.settled();
        return { fragment: window.attnscope.scene(), sentence: window.attnscope.sentence() };
      });
      const want = (await reference(fragment)).sentence;
      assert.deepEqual(numbers(sentence), numbers(want.en), `the page says: ${sentence}`);
      return { fragment, told: numbers(sentence).length };
    };

    LESSONS.forEach((lesson, at) => {
      test(`starter scene ${lesson}, and its move: the sentence holds the reference's numbers`, async () => {
        await page.click('button[popovertarget="scenes"].menu-button');
        await page.click(`#scenes li:nth-child(${at + 1}) button`);
        const begun = await assertSentence();
        assert.match(begun.fragment, new RegExp(`lesson=${lesson}(&|$)`));
        await page.click('#lesson-move');
        const moved = await assertSentence();
        assert.notEqual(moved.fragment, begun.fragment, 'the move changes something');
        // A shared P_K moves nothing, and its sentence says so without a number.
        assert.ok(begun.told + moved.told > 0, 'neither sentence has a number');
      });
    });

    test('English and Chinese: same numbers, other words', async () => {
      const said = {};
      for (const lang of ['en', 'zh']) {
        await show(page, `v=1&m=window&w=2&lang=${lang}`);
        said[lang] = await page.evaluate(() => [window.attnscope.sentence(), document.documentElement.lang]);
      }
      const same = (text) => numbers(text).sort((a, b) => a - b);
      assert.deepEqual(same(said.en[0]), same(said.zh[0]));
      assert.match(said.zh[0], /[\u4e00-\u9fff]/);
      assert.doesNotMatch(said.en[0], /[\u4e00-\u9fff]{3}/);
      assert.match(said.en[1], /^en/);
      assert.match(said.zh[1], /^zh/);
    });

    test('nothing was wrong on the way', () => assertQuiet(page, server.origin));
  });
}
