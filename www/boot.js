// Starts the page: loads the WebAssembly module, or says in the reader's language why it could
// not be. External, so that the pages' policy needs no inline script; and a classic script, which
// also runs in a sandboxed frame whose server sends no Access-Control-Allow-Origin, to say so.
'use strict';

(() => {
  const HERE = document.currentScript.src;
  /** Which module this page runs. */
  const MODULE = document.currentScript.dataset.module ?? 'attnscope';

  /** Plain name → name of the files of this build, put here by the build (build/hash.mjs). A page that
   * was opened before a deploy goes on with the files that it was built with. */
  const FILES = {};
  const address = (name) => new URL(FILES[name] ?? name, HERE).href;

  /** A module with one vector instruction: the page's own module has many (Safari before 16.4 has none). */
  const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

  /** The languages of lang/, put here by the build (build/start.mjs); the first is for everybody else. */
  const LANGUAGES = [{ tag: '', words: {} }];
  /** [beginning of a language tag, place in LANGUAGES], longest first. */
  const ACCEPTS = [];

  /** One way in which the start failed: a key of its words, and what exactly it was. */
  class Problem extends Error {
    constructor(kind, what = '') {
      super(what);
      this.kind = kind;
    }
  }

  /** The language of a page whose own code has not come or has stopped: what it showed, else the
   * link's, `?lang=`, the browser's. */
  function language() {
    const asked = (text) => new URLSearchParams(text).get('lang') ?? '';
    const fits = (tag) => ACCEPTS.find(([start]) => `${tag}-`.toLowerCase().startsWith(`${start}-`));
    const shown = document.documentElement;
    const wanted = [shown.dataset.state ? shown.lang : '', asked(location.hash.slice(1)), asked(location.search), ...(navigator.languages ?? [])];
    return LANGUAGES[wanted.map(fits).find(Boolean)?.[1] ?? 0];
  }

  function say(error) {
    const box = document.getElementById('boot-problem');
    if (!box) return null;
    const { tag, words } = language();
    box.textContent = words[error.kind ?? 'OTHER'].replace('{what}', () => short(error));
    box.lang = tag;
    box.dir = 'auto';
    box.hidden = false;
    return box;
  }

  let stopped = false;

  /**
   * The page's own code has stopped for good: a panic, a trap, no memory left. The picture stays;
   * there is a sentence, a report to copy and a way to go on with the same Scene. Nothing here
   * depends on the code that has stopped: it is asked for the Scene, and need not answer.
   */
  function stop(what) {
    if (stopped) return;
    stopped = true;
    const root = document.documentElement;
    const engine = root.dataset.state;
    root.dataset.state = 'panicked';
    // Behind the code that is stopping, which may hold what it would read.
    setTimeout(() => {
      dispatchEvent(new CustomEvent('attnscope:state', { detail: 'panicked' }));
      const box = say(new Problem('STOPPED'));
      if (!box) return;
      for (const part of document.body.children) part.inert = part !== box;
      let scene = '';
      try {
        scene = self.attnscope.scene();
      } catch {}
      const { words } = language();
      const report = document.createElement('textarea');
      report.readOnly = true;
      report.rows = 4;
      report.className = 'by-hand';
      report.ariaLabel = words.COPY;
      // Addresses say where the page is: they stay here.
      report.value = [what.split('\n').slice(0, 3).join(' ').replace(/\w+:\/\/[^\s)]*/g, '…').replace(/\s+/g, ' ').slice(0, 600), scene, engine, navigator.userAgent].join('\n');
      const button = (label, act) => {
        const made = document.createElement('button');
        made.type = 'button';
        made.className = 'menu-button';
        made.textContent = label;
        made.onclick = act;
        return made;
      };
      const restart = button(words.RESTART, () => {
        // The address may be a moment behind; where it cannot be written it stays as it is.
        try {
          if (scene) history.replaceState(null, '', `#${scene}`);
        } catch {}
        location.reload();
      });
      const copy = button(words.COPY, async () => {
        report.select();
        try {
          await navigator.clipboard.writeText(report.value);
          copy.textContent = words.COPIED;
        } catch {
          // It is selected, to be copied by hand.
        }
      });
      box.append(report, restart, ' ', copy);
    });
  }

  /** A trap that was no panic: a full memory, say. */
  const heard = (error) => {
    if (error instanceof WebAssembly.RuntimeError) stop(short(error));
  };

  const short = (error) => String(error?.message ?? error).slice(0, 200);
  /** Something did not come: a file may load nothing, and in a sandboxed frame the server's headers are
   * the likeliest cause. */
  const missing = (what) => new Problem(location.protocol === 'file:' ? 'FILE' : self.origin === 'null' ? 'SANDBOX' : 'MISSING', what);

  /** The module, compiled; each way to fail is told apart. */
  async function compile(url) {
    let answer;
    try {
      answer = await fetch(url);
    } catch (error) {
      throw missing(short(error));
    }
    if (!answer.ok) throw new Problem('MISSING', `${url.split('/').pop()}: ${answer.status}`);
    try {
      // A wrong type only costs the streaming: the bytes are compiled all the same.
      const streaming = answer.headers.get('Content-Type')?.startsWith('application/wasm');
      return streaming
        ? await WebAssembly.compileStreaming(answer)
        : await WebAssembly.compile(await answer.arrayBuffer());
    } catch (error) {
      const policy = /unsafe-eval|content.security.policy|blocked by csp/i.test(short(error));
      throw policy ? new Problem('BLOCKED') : new Problem('BROKEN', short(error));
    }
  }

  async function boot() {
    if (typeof WebAssembly !== 'object' || !WebAssembly.validate(SIMD)) throw new Problem('NO_WASM');
    globalThis.attnscopeStopped = stop;
    addEventListener('error', (event) => heard(event.error));
    addEventListener('unhandledrejection', (event) => heard(event.reason));
    // wgpu 30 knows two kinds of GPUError and panics at the third; now that is one of the second.
    if (self.GPUInternalError) Object.setPrototypeOf(GPUInternalError.prototype, GPUOutOfMemoryError.prototype);
    // The graphics process of the browser starts while the module is on its way; the page asks this
    // adapter for its name (each adapter can be used for one device only, and the page makes its own).
    // Whatever a broken or blocked browser does here, the page goes on without it.
    globalThis.attnscopeAdapter = (async () => navigator.gpu?.requestAdapter())().catch(() => null);
    globalThis.attnscopeFile = address;
    const [glue, module] = await Promise.all([
      import(address(`${MODULE}.js`)).catch((error) => {
        throw missing(short(error));
      }),
      compile(address(`${MODULE}_bg.wasm`)),
    ]);
    // Where no worker can be had the page runs a worker's module itself: Rust has no import() of its own.
    globalThis.attnscopeImport = (address) => import(address);
    await glue.default({ module_or_path: module });
  }

  boot().catch((error) => {
    // For the reader a sentence; for whoever looks for the cause, the whole of it.
    console.error(error);
    say(error);
  });
})();
