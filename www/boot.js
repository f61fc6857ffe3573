// Starts the page: loads the WebAssembly module, or says in the reader's language why it could
// not be. External, so that the pages' policy needs no inline script; and a classic script, which
// also runs in a sandboxed frame whose server sends no Access-Control-Allow-Origin, to say so.
'use strict';

(() => {
  const HERE = document.currentScript.src;
  /** Which module this page runs. */
  const MODULE = document.currentScript.dataset.module ?? 'attnscope';

  /** A module with one vector instruction: the page's own module has many (Safari before 16.4 has none). */
  const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

  const WORDS = {
    en: {
      noWasm: 'This browser does not run WebAssembly here, so nothing can be computed. Update the browser, or leave its lockdown mode for this page.',
      sandbox: 'This frame is sandboxed, and its server does not let it load the rest of the page. The server must send “Access-Control-Allow-Origin: *” with every file, or the frame needs sandbox="allow-scripts allow-same-origin".',
      missing: (what) => `A part of the page could not be loaded (${what}). Check the connection and load the page again; if you host it yourself, every file of the folder must be there.`,
      broken: (what) => `A part of the page arrived damaged (${what}). Load the page again; if you host it yourself, every file must be sent whole.`,
      blocked: 'The policy of this site forbids WebAssembly, so nothing can be computed. If you host it yourself, its Content-Security-Policy needs \'wasm-unsafe-eval\' in script-src.',
      other: (what) => `The page could not start (${what}). Load it again; if that does not help, try another browser.`,
      stopped: 'The page has stopped: an error of its own. Nothing you set is lost. If you report it, this text helps; it says nothing about you but the browser you use:',
      restart: 'Restart here',
      copy: 'Copy the report',
      copied: 'Copied',
    },
    zh: {
      noWasm: '此浏览器无法在此运行 WebAssembly，因此无法计算。请更新浏览器，或为本页关闭锁定模式。',
      sandbox: '此框架处于沙盒中，其服务器不允许它载入页面的其余部分。服务器须为每个文件发送“Access-Control-Allow-Origin: *”，或者为框架设置 sandbox="allow-scripts allow-same-origin"。',
      missing: (what) => `页面的一部分未能载入（${what}）。请检查网络后重新载入；如果由您自己托管，请确认文件夹中的所有文件都在。`,
      broken: (what) => `页面的一部分已损坏（${what}）。请重新载入；如果由您自己托管，请确认每个文件都完整发送。`,
      blocked: '此网站的策略禁止 WebAssembly，因此无法计算。如果由您自己托管，请在 Content-Security-Policy 的 script-src 中加入 \'wasm-unsafe-eval\'。',
      other: (what) => `页面未能启动（${what}）。请重新载入；如果仍然无效，请换一个浏览器。`,
      stopped: '页面因自身错误而停止。您的设置都没有丢失。如需反馈，请附上以下文字；除所用浏览器外，其中不含您的信息：',
      restart: '从此处重新开始',
      copy: '复制报告',
      copied: '已复制',
    },
  };

  /** One way in which the start failed: a key of WORDS, and what exactly it was. */
  class Problem extends Error {
    constructor(kind, what = '') {
      super(what);
      this.kind = kind;
    }
  }

  /** The language of a page whose own code has not come or has stopped: what it showed, else the
   * link's, `?lang=`, the browser's. */
  function language() {
    const asked = (text) => new URLSearchParams(text).get('lang');
    const shown = document.documentElement;
    const wanted = (shown.dataset.state && shown.lang) ?? asked(location.hash.slice(1)) ?? asked(location.search) ?? navigator.language ?? 'en';
    return wanted.toLowerCase().startsWith('zh') ? 'zh' : 'en';
  }

  function say(error) {
    const box = document.getElementById('boot-problem');
    if (!box) return null;
    const words = WORDS[language()][error.kind ?? 'other'];
    box.textContent = typeof words === 'function' ? words(short(error)) : words;
    box.lang = language() === 'zh' ? 'zh-CN' : 'en';
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
      const box = say(new Problem('stopped'));
      if (!box) return;
      for (const part of document.body.children) part.inert = part !== box;
      let scene = '';
      try {
        scene = self.attnscope.scene();
      } catch {}
      const words = WORDS[language()];
      const report = document.createElement('textarea');
      report.readOnly = true;
      report.rows = 4;
      report.className = 'by-hand';
      report.ariaLabel = words.copy;
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
      const restart = button(words.restart, () => {
        // The address may be a moment behind; where it cannot be written it stays as it is.
        try {
          if (scene) history.replaceState(null, '', `#${scene}`);
        } catch {}
        location.reload();
      });
      const copy = button(words.copy, async () => {
        report.select();
        try {
          await navigator.clipboard.writeText(report.value);
          copy.textContent = words.copied;
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
  /** Something did not come: in a sandboxed frame the server's headers are the likeliest cause. */
  const missing = (what) => new Problem(self.origin === 'null' ? 'sandbox' : 'missing', what);

  /** The module, compiled; each way to fail is told apart. */
  async function compile(url) {
    let answer;
    try {
      answer = await fetch(url);
    } catch (error) {
      throw missing(short(error));
    }
    if (!answer.ok) throw new Problem('missing', `${url.pathname.split('/').pop()}: ${answer.status}`);
    try {
      // A wrong type only costs the streaming: the bytes are compiled all the same.
      const streaming = answer.headers.get('Content-Type')?.startsWith('application/wasm');
      return streaming
        ? await WebAssembly.compileStreaming(answer)
        : await WebAssembly.compile(await answer.arrayBuffer());
    } catch (error) {
      const policy = /unsafe-eval|content.security.policy|blocked by csp/i.test(short(error));
      throw policy ? new Problem('blocked') : new Problem('broken', short(error));
    }
  }

  async function boot() {
    if (typeof WebAssembly !== 'object' || !WebAssembly.validate(SIMD)) throw new Problem('noWasm');
    globalThis.attnscopeStopped = stop;
    addEventListener('error', (event) => heard(event.error));
    addEventListener('unhandledrejection', (event) => heard(event.reason));
    // wgpu 30 knows two kinds of GPUError and panics at the third; now that is one of the second.
    if (self.GPUInternalError) Object.setPrototypeOf(GPUInternalError.prototype, GPUOutOfMemoryError.prototype);
    // The graphics process of the browser starts while the module is on its way; the page asks this
    // adapter for its name (each adapter can be used for one device only, and the page makes its own).
    // Whatever a broken or blocked browser does here, the page goes on without it.
    globalThis.attnscopeAdapter = (async () => navigator.gpu?.requestAdapter())().catch(() => null);
    const script = new URL(`./${MODULE}.js`, HERE).href;
    const [glue, module] = await Promise.all([
      import(script).catch((error) => {
        throw missing(short(error));
      }),
      compile(new URL(`./${MODULE}_bg.wasm`, HERE)),
    ]);
    // The worker starts from the same compiled module: it is neither fetched nor compiled again.
    // It must be a classic worker, made from a blob whose text uses import(): in a sandboxed frame
    // (opaque origin) Chromium 156 fails every module worker made from a blob, without a message.
    // Firefox 153 takes both; posting the compiled module works in both.
    globalThis.attnscopeModule = module;
    await glue.default({ module_or_path: module });
  }

  boot().catch((error) => {
    // For the reader a sentence; for whoever looks for the cause, the whole of it.
    console.error(error);
    say(error);
  });
})();
