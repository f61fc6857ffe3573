// Scenes: links, starter scenes, any text at all.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { fragments } from './fragments.mjs';
import { assertQuiet, judge, judgePicture, opened, openPage, ready, reference, show, slider, waitForProblem } from './harness.mjs';

const LESSONS = ['full', 'window', 'sink', 'bias', 'signed', 'rank'];

/** Every number in a text, with its decimals, ignoring typographic signs. */
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
      // Noise must give warnings, and some texts are not noise.
      assert.ok(result.warned > 1_000 && result.warned < 10_000, `${result.warned} texts had warnings`);
    });

    test('odd scenes are drawn or refused in words, and the page goes on', async () => {
      for (const text of ['v=1&src=sentence.1&rect=20.20.4294967295.9', 'v=1&head=4000000000', 'v=1&m=cjar&seg=1&r=1&rho=1', 'v=7&x=%ff']) {
        await judge(await show(page, text), text);
      }
      await judge(await show(page, 'v=1'), 'v=1');
      await judgePicture(page, 'v=1');
    });

    test('the version of a link: a newer one of any length is said to be newer, one that never was is replaced', async () => {
      for (const [lang, version, words] of [
        ['en', '2', /made by a newer version of the page \(format 2\)/],
        ['en', '99999999999', /made by a newer version of the page \(format 99999999999\)/],
        ['zh', '99999999999', /99999999999/],
        ['en', '0', /v=0 \(limited to 1\)/],
        ['en', '1.5', /v=1\.5 \(not possible here, so 1\)/],
      ]) {
        const other = await openPage(browser, `${server.url}#v=${version}&m=window&w=5`, { lang });
        await ready(other);
        const said = await waitForProblem(other, words);
        if (version.length > 3) assert.doesNotMatch(said, /v=9/, 'it is no number that does not fit');
        assert.equal(await other.evaluate(() => window.attnscope.scene()), 'v=1&m=window&w=5');
        assertQuiet(other, server.origin);
        await other.close();
      }
    });

    test('a Xavier bias: the page says how small it is for these sizes, and no map shows it', async () => {
      const plain = await show(page, 'v=1&m=cjar&pk=0');
      for (const [lang, each, rows] of [['en', 0, 1], ['en', 1, 24], ['zh', 0, 1], ['zh', 1, 24]]) {
        const map = await show(page, `v=1&m=cjar&pk=1&pk.shape=xavier&pk.each=${each}&lang=${lang}`);
        const [said] = await page.$$eval('p.aside', (all) => all.map((it) => (it.hidden ? '' : it.textContent)).filter((text) => /xavier|Xavier|CJAR/.test(text) && /\d/.test(text)));
        // 12 heads of width 32, gain 0.02, the fans of [1, 12, rows, 32].
        const deviation = 0.02 * Math.sqrt(2 / (12 * rows * 32 + rows * 32));
        const [, digits, power] = /(\d+\.\d+)(?:·10⁻(.))?/.exec(said.replace(/^.*?(?:deviation|标准差为)/, ''));
        const told = Number(digits) * 10 ** -(power ? '⁰¹²³⁴⁵⁶⁷⁸⁹'.indexOf(power) : 0);
        assert.ok(Math.abs(told / deviation - 1) < 0.05, `${said}: ${deviation}`);
        const off = Math.max(...map.values.map((value, at) => Math.abs(value - plain.values[at])));
        assert.ok(off < 1 / 256, `the map moves by ${off}: more than a step of its colours`);
      }
      await show(page, 'v=1&m=cjar&pk=1&pk.shape=normal&lang=en');
      assert.ok(await page.$$eval('p.aside', (all) => all.every((it) => it.hidden || !/deviation/.test(it.textContent))));
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

    /** The scene and the sentence on screen, compared with the reference. */
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
        // The control that has moved is in sight.
        const changed = await page.evaluate((before) => {
          const [was, is] = [before, window.attnscope.scene()].map((text) => new URLSearchParams(text));
          const control = [...document.querySelectorAll('[data-key]')].find(({ dataset: { key } }) => was.get(key) !== is.get(key));
          const { top, bottom } = control?.getBoundingClientRect() ?? { top: 0, bottom: 0 };
          return { key: control?.dataset.key, inside: top >= 0 && bottom <= innerHeight };
        }, begun.fragment);
        // The first move changes the head, whose control is at the top.
        assert.equal(changed.key === undefined, lesson === 'full', `no control has changed: ${moved.fragment}`);
        assert.ok(lesson === 'full' || changed.inside, `${changed.key} is out of sight`);
        // A shared P_K moves nothing, and its sentence says so without a number.
        assert.ok(begun.told + moved.told > 0, 'neither sentence has a number');
      });
    });

    test('another text puts a starter scene away, whose words are of its own; a listing stays', async () => {
      for (const [lesson, stays] of [['window', false], ['partial', true]]) {
        await page.evaluate((id) => window.attnscope.lesson(id), lesson);
        await page.waitForSelector('.lesson');
        await page.select('#source', '1');
        await page.evaluate(() => window.attnscope.settled());
        assert.equal((await page.$('.lesson')) !== null, stays, lesson);
        assert.match(await page.evaluate(() => window.attnscope.scene()), /src=paragraph/);
      }
    });

    test('a drag is one step back, however long the hand stops on its way', async () => {
      await show(page, 'v=1&m=window&w=2');
      // The address follows a moment later.
      await page.waitForFunction(() => location.hash === '#v=1&m=window');
      const before = await page.evaluate(() => history.length);
      const box = await (await page.$(slider('w'))).boundingBox();
      const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
      await page.mouse.move(...at(0.1));
      await page.mouse.down();
      await page.mouse.move(...at(0.3));
      await new Promise((done) => setTimeout(done, 700));
      const halfway = await page.evaluate(() => window.attnscope.scene());
      await page.mouse.move(...at(0.6));
      assert.ok(await page.$('.sentence.is-late'), 'a sentence about an earlier picture looks like one about this');
      await page.mouse.up();
      await page.waitForFunction(() => location.hash === `#${window.attnscope.scene()}`);
      const end = await page.evaluate(() => window.attnscope.scene());
      assert.ok(halfway !== end && halfway !== 'v=1&m=window', `${halfway} to ${end}`);
      assert.equal(await page.evaluate(() => history.length), before + 1);
      await page.evaluate(() => history.back());
      await page.waitForFunction(() => window.attnscope.scene() === 'v=1&m=window');
      await page.evaluate(() => window.attnscope.settled());
      assert.equal(await page.$('.sentence.is-late'), null);
    });

    test('the labels of the locked cell stay beside its row and column when the map is zoomed', async () => {
      const off = () =>
        page.evaluate(() => {
          const middle = (element) => {
            const { left, right, top, bottom } = element.getBoundingClientRect();
            return { x: (left + right) / 2, y: (top + bottom) / 2 };
          };
          const [row, ring] = [document.querySelector('.axis-q .hot'), document.querySelector('.ring')].map(middle);
          // A slanted label begins beside its column and leans away.
          const column = document.querySelector('.axis-k .hot').getBoundingClientRect().left;
          return { row: row.y - ring.y, column: column - ring.x };
        });
      const lock = 'v=1&src=sentence.3&head=1&cell=12.6';
      for (const rect of ['', '&rect=10.6.4.4', '&rect=8.4.8.8', '']) {
        await show(page, lock + rect);
        const { row, column } = await off();
        assert.ok(Math.abs(row) < 8 && Math.abs(column) < 16, `${rect}: ${row} ${column}`);
      }
    });

    test('the terms of a cell make its score, and its score its weight', async () => {
      await show(page, 'v=1&m=cjar&reading=product&pk=0.5&s=1&rho=8&panel=cell&cell=12.9');
      const rows = await page.$$eval('.numbers tr', (all) => all.map((it) => [it.cells[0].innerText, it.cells[1].innerText]));
      const value = Object.fromEntries(rows.map(([label, text]) => [label, numbers(text)[0]]));
      const score = value['scale · q·k'] + value['scale · q·P K'] + value['cut to rank ρ'];
      assert.ok(Math.abs(score - value['score r']) < 0.002, JSON.stringify(value));
      assert.ok(Math.abs(value['cut to rank ρ']) > 0.01, 'a rank that cuts nothing');
      const weight = value['score r'] * value['softmax(s)'];
      assert.ok(Math.abs(weight - value['weight A']) < 0.01 * Math.max(1, Math.abs(value['score r'])), JSON.stringify(value));
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
