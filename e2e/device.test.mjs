// A graphics device that fails, refuses, lies or stops answering: the CPU draws the same Scene, the
// page says why, and there is a way back.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { BROWSERS } from './browsers.mjs';
import { assertComputes, assertGoesOn, DIST, engine, judge, judgePicture, launch, openPage, problems, readMap, show, waitForState } from './harness.mjs';
import { serve } from './server.mjs';

const FRAGMENT = 'v=1&src=paragraph.1&m=window&w=7&head=3&cell=4.2';

/**
 * Records states, devices, and unhandled rejections. The page's first retry after a loss waits until
 * the test calls `window.soon`, so that there is time to look.
 */
const watch = () => {
  window.states = [];
  window.rejections = [];
  window.devices = [];
  addEventListener('attnscope:state', (event) => window.states.push(event.detail));
  addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
  const timeout = window.setTimeout;
  window.setTimeout = (act, ms, ...rest) => {
    if (ms !== 1500) return timeout.call(window, act, ms, ...rest);
    window.soon = act;
    return 0;
  };
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await request.apply(this, args);
    window.devices.push(device);
    return device;
  };
};

/**
 * Answers of the device wait in `window.held` while `window.hold` names their kind. The page's seconds
 * pass only when `window.pass(n)` says so: nothing here depends on the machine.
 */
const holdAnswers = () => {
  window.hold = null;
  window.held = [];
  window.away = false;
  const holding = (prototype, name, kind) => {
    const real = prototype[name];
    prototype[name] = function (...args) {
      const answer = real.apply(this, args);
      if (window.hold !== kind) return answer;
      return new Promise((done) => window.held.push(() => done(answer)));
    };
  };
  holding(GPUBuffer.prototype, 'mapAsync', 'mapAsync');
  holding(GPUQueue.prototype, 'onSubmittedWorkDone', 'onSubmittedWorkDone');
  Object.defineProperty(document, 'hidden', { get: () => window.away });
  const interval = window.setInterval;
  const seconds = [];
  window.setInterval = (act, ms, ...rest) => (ms === 1000 ? seconds.push(act) : interval.call(window, act, ms, ...rest));
  window.pass = async (count) => {
    for (let at = 0; at < count; at++) {
      seconds.forEach((act) => act());
      await new Promise((done) => setTimeout(done));
    }
  };
};

/** An error of the device, as the browser reports it. */
const raise = (page, kind) =>
  page.evaluate((name) => {
    const error = new globalThis[name]('made by the test');
    window.devices.at(-1).dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
  }, kind);

/** The button with which the reader retries the device. */
const AGAIN = '.engine button';

async function openOn(browser, server, options) {
  const page = await openPage(browser, server.url, options);
  await assertComputes(page);
  await judge(await show(page, FRAGMENT), FRAGMENT);
  return page;
}

/** The CPU draws this Scene, and the page says why. */
async function assertCpu(page, fragment, badge) {
  await waitForState(page, 'cpu');
  assert.match((await engine(page)).badge, badge);
  assert.equal(await page.evaluate(() => window.attnscope.scene()), fragment);
  await judge(await readMap(page), fragment);
  await judgePicture(page, fragment);
  assert.equal(await problems(page), '');
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

    const ERRORS = {
      GPUInternalError: [/^CPU · the graphics device was lost/, /an error inside/],
      GPUOutOfMemoryError: [/^CPU · the graphics device was lost/, /out of memory/],
      GPUValidationError: [/^CPU · an error in this page/, /made by the test/],
    };
    for (const [kind, [badge, why]] of Object.entries(ERRORS)) {
      test(`a ${kind} while nothing is drawn: the CPU's picture, then the device's`, async () => {
        const page = await openOn(browser, server, { before: watch, lang: 'en' });
        await raise(page, kind);
        await waitForState(page, 'cpu');
        assert.match((await engine(page)).badge, badge);
        assert.match((await engine(page)).why, why);
        await judge(await readMap(page), FRAGMENT);
        await page.evaluate(() => window.soon());
        await waitForState(page, 'gpu');
        await judge(await readMap(page), FRAGMENT);
        const states = await page.evaluate(() => window.states);
        assert.deepEqual(states.slice(states.indexOf('gpu')), ['gpu', 'lost', 'cpu', 'recovering', 'gpu']);
        await assertGoesOn(page, server);
        await page.close();
      });
    }

    test('a buffer for which there is no memory: the CPU draws', async () => {
      const page = await openOn(browser, server, { before: watch, lang: 'en' });
      await page.evaluate(() => {
        const create = GPUDevice.prototype.createBuffer;
        GPUDevice.prototype.createBuffer = function (...args) {
          const buffer = create.apply(this, args);
          const error = new GPUOutOfMemoryError('made by the test');
          queueMicrotask(() => this.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error })));
          return buffer;
        };
      });
      const longer = FRAGMENT.replace('paragraph.1', 'page.1');
      await page.evaluate((text) => window.attnscope.set(text), longer);
      await assertCpu(page, longer, /^CPU · the graphics device was lost/);
      await assertGoesOn(page, server);
      await page.close();
    });

    test('a browser that gives no more animation frames: pictures follow all the same', async () => {
      const starve = () => {
        const ask = window.requestAnimationFrame;
        window.requestAnimationFrame = (act) => (window.starved ? 0 : ask.call(window, act));
      };
      const page = await openPage(browser, server.url, { before: `(${watch})(); (${starve})();`, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      await page.evaluate(() => {
        window.starved = true;
      });
      for (const width of [9, 11]) {
        const next = FRAGMENT.replace('w=7', `w=${width}`);
        await judge(await show(page, next), next);
      }
      // Animation frames come again.
      await page.evaluate(() => {
        window.starved = false;
      });
      await assertGoesOn(page, server);
      await page.close();
    });

    const HELD = {
      mapAsync: ['en', /^CPU · the graphics device no longer answers; GPU retry within 2 minutes$/],
      onSubmittedWorkDone: ['zh', /^CPU · 图形设备不再响应；2 分钟内重试 GPU$/],
    };
    for (const [kind, [lang, badge]] of Object.entries(HELD)) {
      test(`${kind} that never settles: the CPU draws; seconds in the background do not count`, async () => {
        const page = await openPage(browser, server.url, { before: `(${watch})(); (${holdAnswers})();`, lang });
        await assertComputes(page);
        await show(page, FRAGMENT);
        const next = FRAGMENT.replace('w=7', 'w=9');
        await page.evaluate((text, what) => {
          window.hold = what;
          window.attnscope.set(text);
        }, next, kind);
        await page.waitForFunction(() => window.held.length > 0);
        const stateAfter = async (seconds, away) => {
          await page.evaluate((count, hidden) => {
            window.away = hidden;
            return window.pass(count);
          }, seconds, away);
          return page.evaluate(() => document.documentElement.dataset.state);
        };
        assert.equal(await stateAfter(200, true), 'gpu', 'hidden');
        assert.equal(await stateAfter(28, false), 'gpu', 'not long enough');
        // Work under way may still be answered in the meantime.
        for (let round = 0; round < 30 && (await stateAfter(4, false)) === 'gpu'; round++);
        await assertCpu(page, next, badge);
        // The device works again, and the reader retries it.
        await page.evaluate(() => {
          window.hold = null;
        });
        await page.click(AGAIN);
        await waitForState(page, 'gpu');
        await judge(await readMap(page), next);
        const states = await page.evaluate(() => window.states);
        assert.deepEqual(states.slice(states.indexOf('gpu')), ['gpu', 'lost', 'cpu', 'recovering', 'gpu']);
        await assertGoesOn(page, server);
        await page.close();
      });
    }

    test('a device that is slow but answers is waited for', async () => {
      const page = await openPage(browser, server.url, { before: `(${watch})(); (${holdAnswers})();`, lang: 'en' });
      await assertComputes(page);
      await show(page, FRAGMENT);
      const next = FRAGMENT.replace('w=7', 'w=9');
      await page.evaluate((text) => {
        window.hold = 'onSubmittedWorkDone';
        window.attnscope.set(text);
      }, next);
      for (let round = 0; round < 3; round++) {
        await page.waitForFunction(() => window.held.length > 0);
        await page.evaluate(async () => {
          await window.pass(25);
          window.held.shift()();
          await window.pass(1);
        });
        assert.equal((await engine(page)).state, 'gpu', `after ${26 * (round + 1)} seconds`);
      }
      await page.evaluate(() => {
        window.hold = null;
        window.held.forEach((answer) => answer());
      });
      await judge(await readMap(page), next);
      await assertGoesOn(page, server);
      await page.close();
    });

    test('error scopes and asynchronous pipelines: the page waits for neither', async () => {
      const page = await openOn(browser, server, {
        lang: 'en',
        before: () => {
          window.rejections = [];
          addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));
          GPUDevice.prototype.popErrorScope = () => Promise.reject(new Error('refused by the test'));
          GPUDevice.prototype.createComputePipelineAsync = () => new Promise(() => {});
          GPUDevice.prototype.createRenderPipelineAsync = () => Promise.reject(new Error('refused by the test'));
        },
      });
      assert.equal((await engine(page)).state, 'gpu');
      await assertGoesOn(page, server);
      await page.close();
    });

    // Each is the value of `navigator.gpu` or its adapter, and the reason that the page gives.
    const ODD = {
      'navigator.gpu that is empty': {
        badge: /^CPU · no WebGPU in this browser$/,
        button: false,
        before: () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => ({}), configurable: true }),
      },
      'an adapter that is empty': {
        badge: /^CPU · no graphics adapter$/,
        button: true,
        before: () => {
          GPU.prototype.requestAdapter = async () => ({});
        },
      },
      'a device that never comes': {
        badge: /^CPU · the graphics adapter does not answer$/,
        button: false,
        before: () => {
          GPUAdapter.prototype.requestDevice = () => new Promise(() => {});
        },
      },
      'limits that are too small for any shipped text': {
        badge: /^CPU · the adapter refused to start$/,
        button: true,
        before: () => {
          const limits = Object.getOwnPropertyDescriptor(GPUAdapter.prototype, 'limits').get;
          Object.defineProperty(GPUAdapter.prototype, 'limits', {
            get() {
              const get = (real, key) => (/Buffer(Binding)?Size$/.test(key) ? 65_536 : Reflect.get(real, key));
              return new Proxy(limits.call(this), { get });
            },
          });
        },
      },
    };
    for (const [what, { badge, button, before: prepare }] of Object.entries(ODD)) {
      test(`${what}: the CPU draws, and the right reason is said`, async () => {
        const noted = "window.rejections = []; addEventListener('unhandledrejection', (event) => window.rejections.push(String(event.reason)));";
        const page = await openPage(browser, server.url, { before: `${noted} (${prepare})();`, lang: 'en' });
        await assertComputes(page, 'CPU');
        await show(page, FRAGMENT);
        await assertCpu(page, FRAGMENT, badge);
        assert.equal((await page.$(AGAIN)) !== null, button, 'the button that asks again');
        await assertGoesOn(page, server);
        await page.close();
      });
    }

    test('lost again and again: the page says when it asks, then that it gave up; the reader still can', async () => {
      const page = await openOn(browser, server, { before: watch, lang: 'en' });
      const said = [];
      for (let round = 0; round < 6 && !/automatically/.test(said.at(-1) ?? ''); round++) {
        if (round > 1) await page.click(AGAIN);
        await page.waitForFunction(() => ['gpu', 'cpu'].includes(document.documentElement.dataset.state));
        if ((await engine(page)).state === 'gpu') {
          if (name === 'chromium') {
            const session = await browser.target().createCDPSession();
            // The reply may die with the process.
            await session.send('Browser.crashGpuProcess').catch(() => {});
          } else {
            // Firefox gives a page no more animation frames when its device goes while a picture is
            // under way.
            await page.evaluate(async () => {
              await window.attnscope.settled();
              await new Promise((done) => setTimeout(done, 300));
              window.devices.at(-1).destroy();
            });
          }
        }
        await waitForState(page, 'cpu');
        await judge(await readMap(page), FRAGMENT);
        assert.ok(await page.$(AGAIN), `round ${round}: the button is gone`);
        if (round === 0) {
          // One automatic retry, soon.
          await page.evaluate(() => window.soon());
          await page.waitForFunction(() => ['gpu', 'cpu'].includes(document.documentElement.dataset.state));
        }
        said.push((await engine(page)).badge);
      }
      assert.ok(said.some((badge) => /GPU retry within 2 minutes$/.test(badge)), said.join('\n'));
      assert.match(said.at(-1), /GPU no longer retried automatically$/);
      // Given up by the page, not by the reader.
      await page.click(AGAIN);
      await page.waitForFunction(() => window.states.at(-1) !== 'recovering');
      assert.equal(await page.evaluate(() => window.attnscope.scene()), FRAGMENT);
      await assertGoesOn(page, server);
      await page.close();
    });
  });
}
