// Workers that stop: each is restarted with what it held, three times; then the page says so, and the
// reader can retry.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertGoesOn, DIST, engine, judge, launch, openPage, problems, readMap, ready, waitForProblem } from './harness.mjs';
import { serve } from './server.mjs';

/** Everything that the compute worker is asked for: a score rank, an output rank, facts, a cell. */
const FRAGMENT = 'v=1&src=paragraph.1&m=cjar&inwin=1&w=9&pk=0.7&rho=5&r=8&head=3&cell=4.2';

/** A P_K long enough for the compute worker, on a layer that the worker makes as well. */
const LONG = 'v=1&src=random.9000.1&m=cjar&inwin=1&w=20&pk=0.7&pk.seed=5&rect=4000.3990.40.60&cell=4010.4000';

/**
 * Workers are stopped as `window.plan` says: which kind, at which request (or when `made`), how often,
 * and how: `ended` from outside, which no event reports, or by an `error` of their own.
 */
const watch = () => {
  window.rejections = [];
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  const RealBlob = window.Blob;
  window.Blob = class extends RealBlob {
    constructor(parts, options) {
      const dies = "addEventListener('message', (e) => { if (e.data === 'die') setTimeout(() => { throw new Error('made by the test'); }); });";
      super(options?.type === 'text/javascript' ? [dies, ...parts] : parts, options);
    }
  };
  const RealWorker = window.Worker;
  window.made = { compute: [], cpu: [] };
  // The first byte of a request is its index in the enum of crates/worker.
  const requests = {
    compute: ['layer', 'chunk', 'out factors', 'score factors', 'bias chunk', 'summary', 'head'],
    cpu: ['chunk', 'draw', 'step', 'read map'],
  };
  window.plan = null;
  window.stopWorker = (worker, how) => {
    if (how === 'error') RealWorker.prototype.postMessage.call(worker, 'die');
    else RealWorker.prototype.terminate.call(worker);
  };
  const reach = (worker, stage) => {
    const plan = window.plan;
    if (!plan || plan.kind !== worker.kind || plan.stage !== stage || plan.times <= 0) return;
    plan.times -= 1;
    setTimeout(() => window.stopWorker(worker, plan.how), plan.after ?? 0);
  };
  window.Worker = class extends RealWorker {
    constructor(address, options) {
      super(address, options);
      this.kind = options.name;
    }

    postMessage(message, ...rest) {
      if (!window.made[this.kind].includes(this)) {
        window.made[this.kind].push(this);
        reach(this, 'made');
      }
      super.postMessage(message, ...rest);
      const request = message?.message?.[0];
      if (request !== undefined) reach(this, requests[this.kind][request]);
    }
  };
};

/** `watch`, with the plan set from the start. */
const planned = (plan) => `(${watch})(); window.plan = ${JSON.stringify(plan)};`;

/** Without WebGPU the CPU engine draws. */
const NO_GPU = 'Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined, configurable: true });';

const made = (page, kind) => page.evaluate((of) => window.made[of].length, kind);

/** Everything that the compute worker computes is there, and the drawn map is right. */
async function assertWhole(page, fragment, { facts = true } = {}) {
  await page.evaluate(() => window.attnscope.settled());
  await judge(await readMap(page), fragment);
  // q and k of the head arrive later.
  await page.waitForFunction(() => /\d/.test(document.querySelector('table.numbers')?.textContent ?? ''));
  if (facts) {
    await page.waitForFunction(() => window.attnscope.summary() !== null);
    assert.match(await page.evaluate(() => document.querySelector('.sentence').textContent), /\S/);
    // The energy that the output rank keeps, from the factors of W_O.
    if (fragment.includes('&r=')) await page.waitForFunction(() => document.querySelector('[data-key="r"]')?.textContent.includes('%'));
  }
  assert.equal(await problems(page), '');
}

const SAYS = {
  en: { compute: /background computation .*stopped each time/, cpu: /CPU engine cannot draw/, retry: 'Try again' },
  zh: { compute: /后台计算已重启三次/, cpu: /CPU 引擎无法绘制/, retry: '重试' },
};

/** Presses the button of the only problem on screen. */
async function retry(page, lang) {
  assert.equal((await page.$$('.problem')).length, 1);
  assert.equal(await page.$eval('.problem .retry', (button) => button.textContent.trim()), SAYS[lang].retry);
  await page.evaluate(() => {
    window.plan = null;
  });
  await page.focus('.problem .retry');
  await page.keyboard.press('Enter');
}

/** Errors that a dying worker logs belong to the test. */
async function assertQuietly(page, server) {
  page.errors = page.errors.filter((text) => !/made by the test/.test(text));
  await assertGoesOn(page, server);
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

    // Stage, Scene, what else: before the layer is sent, while it travels, while factors are computed,
    // while facts and a head are, while a synthetic layer comes chunk by chunk, while P_K is made.
    const STAGES = [
      ['made', FRAGMENT, 'ended', 0],
      ['made', FRAGMENT, 'error', 0],
      ['layer', FRAGMENT, 'ended', 0],
      ['score factors', FRAGMENT, 'ended', 5],
      ['score factors', FRAGMENT, 'error', 0],
      ['out factors', FRAGMENT, 'ended', 20],
      ['summary', FRAGMENT, 'ended', 0],
      ['head', FRAGMENT, 'error', 0],
      ['layer', LONG, 'ended', 5],
      ['chunk', LONG, 'ended', 0],
      ['bias chunk', LONG, 'ended', 5],
      ['bias chunk', LONG, 'error', 0],
    ];
    for (const [stage, fragment, how, wait] of STAGES) {
      test(`the compute worker at "${stage}" (${how}, ${fragment === LONG ? 'long' : 'short'}): the next one goes on`, async () => {
        const plan = { kind: 'compute', stage, times: 1, how, after: wait };
        const page = await openPage(browser, `${server.url}#${fragment}`, { before: planned(plan), lang: 'en' });
        await ready(page);
        await assertWhole(page, fragment, { facts: fragment !== LONG });
        assert.equal(await page.evaluate(() => window.plan.times), 0, 'nothing was stopped');
        assert.equal(await made(page, 'compute'), 2);
        if (fragment === FRAGMENT) await assertQuietly(page, server);
        await page.close();
      });
    }

    test('the compute worker stops when all is there: the next Scene has its ranks, its facts and its cell', async () => {
      const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: planned(null), lang: 'en' });
      await ready(page);
      await assertWhole(page, FRAGMENT);
      let next = FRAGMENT;
      for (const [round, how] of ['ended', 'error', 'ended'].entries()) {
        await page.evaluate((way) => window.stopWorker(window.made.compute.at(-1), way), how);
        // Another score rank's factors, another head's q and k.
        next = FRAGMENT.replace('pk=0.7', `pk=0.${round + 1}`).replace('head=3', `head=${round}`);
        await page.evaluate((text) => window.attnscope.set(text), next);
        await assertWhole(page, next);
        assert.equal(await made(page, 'compute'), round + 2);
      }
      await assertQuietly(page, server);
      await page.close();
    });

    for (const [lang, stage, how] of [['en', 'score factors', 'ended'], ['zh', 'layer', 'error']]) {
      test(`the compute worker stops each time at "${stage}", ${lang}: it is said after three starts more, and the reader may ask again`, async () => {
        const plan = { kind: 'compute', stage, times: 100, how };
        const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: planned(plan), lang });
        await ready(page);
        await waitForProblem(page, SAYS[lang].compute);
        assert.equal(await made(page, 'compute'), 4);
        // The page goes on without it.
        const plain = 'v=1&src=paragraph.2&m=window&w=4';
        await page.evaluate((text) => window.attnscope.set(text), plain);
        await page.evaluate(() => window.attnscope.settled());
        await judge(await readMap(page), plain);
        await page.evaluate((text) => window.attnscope.set(text), FRAGMENT);
        await page.evaluate(() => window.attnscope.settled());
        assert.equal((await page.$$('.problem')).length, 1);
        await retry(page, lang);
        await assertWhole(page, FRAGMENT);
        assert.equal(await made(page, 'compute'), 5);
        await assertQuietly(page, server);
        await page.close();
      });
    }

    test('the compute worker stops each time with a layer of a seed: it is said, and the layer comes when it is asked again', async () => {
      const fragment = 'v=1&src=random.64.1&m=window&w=5&cell=3.3';
      const plan = { kind: 'compute', stage: 'chunk', times: 100, how: 'ended' };
      const page = await openPage(browser, `${server.url}#${fragment}`, { before: planned(plan), lang: 'en' });
      await ready(page);
      await waitForProblem(page, SAYS.en.compute);
      await retry(page, 'en');
      await page.waitForFunction(() => window.attnscope.summary() !== null);
      await assertWhole(page, fragment);
      await assertQuietly(page, server);
      await page.close();
    });

    test('a compute worker that never starts: the page computes by itself', async () => {
      const plan = { kind: 'compute', stage: 'made', times: 100, how: 'error' };
      const page = await openPage(browser, `${server.url}#${FRAGMENT}`, { before: planned(plan), lang: 'en' });
      await ready(page);
      await assertWhole(page, FRAGMENT);
      assert.equal(await made(page, 'compute'), 4);
      await assertQuietly(page, server);
      await page.close();
    });

    // The CPU engine's worker.
    const PICTURE = 'v=1&src=paragraph.1&m=window&w=7&head=3&cell=4.2';
    const BIG = 'v=1&src=random.2048.1&head=1&rect=0.0.40.40&cell=4.2';
    // Its tensors travel chunk by chunk.
    const HUGE = 'v=1&src=random.9000.1&m=window&w=20&rect=4000.3990.40.60&cell=4010.4000';
    const DRAWS = [
      ['made', PICTURE, 'ended'],
      ['draw', PICTURE, 'error'],
      ['draw', PICTURE, 'ended'],
      ['chunk', HUGE, 'ended'],
      ['step', BIG, 'ended'],
      ['step', PICTURE, 'error'],
    ];
    for (const [stage, fragment, how] of DRAWS) {
      test(`the CPU engine at "${stage}" (${how}): the next one draws the same`, async () => {
        const plan = { kind: 'cpu', stage, times: 1, how };
        const page = await openPage(browser, `${server.url}#${fragment}`, { before: `${NO_GPU} ${planned(plan)}`, lang: 'en' });
        await ready(page);
        await assertWhole(page, fragment, { facts: fragment !== HUGE });
        assert.equal(await page.evaluate(() => window.plan.times), 0, 'nothing was stopped');
        assert.equal(await made(page, 'cpu'), 2);
        if (fragment === PICTURE) await assertQuietly(page, server);
        await page.close();
      });
    }

    test('the CPU engine stops when all is drawn: the next Scene and the next read-back are right', async () => {
      const page = await openPage(browser, `${server.url}#${PICTURE}`, { before: `${NO_GPU} ${planned(null)}`, lang: 'en' });
      await ready(page);
      await assertWhole(page, PICTURE);
      await page.evaluate(() => window.stopWorker(window.made.cpu.at(-1), 'error'));
      // The next one draws the same without help.
      await page.waitForFunction(() => window.made.cpu.length === 2);
      await assertWhole(page, PICTURE);
      const next = PICTURE.replace('w=7', 'w=3');
      await page.evaluate((text) => window.attnscope.set(text), next);
      await assertWhole(page, next);
      assert.equal(await made(page, 'cpu'), 2);
      await assertQuietly(page, server);
      await page.close();
    });

    for (const [lang, how, stage] of [['en', 'ended', 'step'], ['zh', 'error', 'draw']]) {
      test(`the CPU engine stops each time at "${stage}", ${lang}: it is said after three starts more, and the reader may ask again`, async () => {
        const plan = { kind: 'cpu', stage, times: 100, how };
        const page = await openPage(browser, `${server.url}#${PICTURE}`, { before: `${NO_GPU} ${planned(plan)}`, lang });
        await waitForProblem(page, SAYS[lang].cpu);
        assert.equal(await made(page, 'cpu'), 4);
        assert.equal((await engine(page)).state, 'cpu');
        await retry(page, lang);
        await page.waitForFunction(() => document.querySelector('.map').matches('.is-drawn'));
        await assertWhole(page, PICTURE);
        assert.equal(await made(page, 'cpu'), 5);
        await assertQuietly(page, server);
        await page.close();
      });
    }
  });
}
