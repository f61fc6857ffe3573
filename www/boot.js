// Starts the page: loads the WebAssembly module, or says in the reader's language why that failed. An
// external file, so that the pages' policy needs no inline script; and a classic script, so that it can
// still report when a sandboxed frame's server sends no Access-Control-Allow-Origin.
'use strict';

(() => {
  const HERE = document.currentScript.src;
  /** Which module this page runs. */
  const MODULE = document.currentScript.dataset.module ?? 'attnscope';

  /**
   * Plain name → file name in this build; filled in by the build (build/hash.mjs). A page that was
   * opened before a deploy keeps using the files of its own build.
   */
  const FILES = {};
  const address = (name) => new URL(FILES[name] ?? name, HERE).href;

  /** A module with one vector instruction: the page's own module has many (Safari before 16.4 has none). */
  const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

  /** The languages of lang/, filled in by the build (build/start.mjs); the first is the fallback. */
  const LANGUAGES = [{ tag: '', words: {} }];
  /** [prefix of a language tag, index in LANGUAGES], longest first. */
  const ACCEPTS = [];

  /** One way in which the start failed: the key of its text, and the details. */
  class Problem extends Error {
    constructor(kind, what = '') {
      super(what);
      this.kind = kind;
    }
  }

  /**
   * The language when the page's own code has not come or has stopped: the one it showed, else the
   * link's, `?lang=`, the browser's.
   */
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
   * The page's own code has stopped for good: a panic, a trap, no memory left. The picture stays; this
   * adds a sentence, a report to copy and a way to go on with the same Scene. Nothing here depends on
   * the code that has stopped: it is asked for the Scene, and need not answer.
   */
  function stop(what) {
    if (stopped) return;
    stopped = true;
    const root = document.documentElement;
    const engine = root.dataset.state;
    root.dataset.state = 'panicked';
    // Deferred, because the code that is stopping may hold what this reads.
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
      // Addresses tell where the page is, so they are cut out.
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
        // The address may be a moment behind; where it cannot be written it stays.
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
          // The text is selected, to be copied by hand.
        }
      });
      box.append(report, restart, ' ', copy);
    });
  }

  /** A trap without a panic, such as a full memory. */
  const heard = (error) => {
    if (error instanceof WebAssembly.RuntimeError) stop(short(error));
  };

  const short = (error) => String(error?.message ?? error).slice(0, 200);
  /**
   * Something did not load: a page opened as a file may load nothing, and in a sandboxed frame the
   * server's headers are the likeliest cause.
   */
  const missing = (what) => new Problem(location.protocol === 'file:' ? 'FILE' : self.origin === 'null' ? 'SANDBOX' : 'MISSING', what);

  /** Compiles the module; tells each way to fail apart. */
  async function compile(url) {
    let answer;
    try {
      answer = await fetch(url);
    } catch (error) {
      throw missing(short(error));
    }
    if (!answer.ok) throw new Problem('MISSING', `${url.split('/').pop()}: ${answer.status}`);
    try {
      // A wrong type costs only the streaming: the bytes are compiled all the same.
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
    // wgpu 30 knows two kinds of GPUError and panics at the third; this makes the third one of the
    // second.
    if (self.GPUInternalError) Object.setPrototypeOf(GPUInternalError.prototype, GPUOutOfMemoryError.prototype);
    // Starts the browser's graphics process while the module loads. The page asks this adapter for its
    // name; it requests its own for the device, since an adapter gives only one. Whatever a broken or
    // blocked browser does here, the page goes on without it.
    globalThis.attnscopeAdapter = (async () => navigator.gpu?.requestAdapter())().catch(() => null);
    globalThis.attnscopeFile = address;
    const [glue, module] = await Promise.all([
      import(address(`${MODULE}.js`)).catch((error) => {
        throw missing(short(error));
      }),
      compile(address(`${MODULE}_bg.wasm`)),
    ]);
    // Where no worker can be had the page runs a worker's module itself: Rust has no import() of its
    // own.
    globalThis.attnscopeImport = (address) => import(address);
    await glue.default({ module_or_path: module });
  }

  boot().catch((error) => {
    // A sentence for the reader, the full error for developers.
    console.error(error);
    say(error);
  });
})();
