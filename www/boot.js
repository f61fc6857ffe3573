// Starts the page: loads the WebAssembly module, or says in the reader's language why it could
// not be. External, so that the pages' policy needs no inline script.

const WORDS = {
  en: {
    noWasm: 'This browser does not run WebAssembly here, so nothing can be computed. Update the browser, or leave its lockdown mode for this page.',
    missing: (what) => `A part of the page could not be loaded (${what}). Check the connection and load the page again; if you host it yourself, every file of the folder must be there.`,
    broken: (what) => `A part of the page arrived damaged or under a wrong type (${what}). Load the page again; if you host it yourself, .wasm must be sent as application/wasm and whole.`,
    blocked: 'The policy of this site forbids WebAssembly, so nothing can be computed. If you host it yourself, its Content-Security-Policy needs \'wasm-unsafe-eval\' in script-src.',
    other: (what) => `The page could not start (${what}). Load it again; if that does not help, try another browser.`,
  },
  zh: {
    noWasm: '此浏览器无法在此运行 WebAssembly，因此无法计算。请更新浏览器，或为本页关闭锁定模式。',
    missing: (what) => `页面的一部分未能载入（${what}）。请检查网络后重新载入；如果由您自己托管，请确认文件夹中的所有文件都在。`,
    broken: (what) => `页面的一部分已损坏或类型错误（${what}）。请重新载入；如果由您自己托管，.wasm 必须完整并以 application/wasm 类型发送。`,
    blocked: '此网站的策略禁止 WebAssembly，因此无法计算。如果由您自己托管，请在 Content-Security-Policy 的 script-src 中加入 \'wasm-unsafe-eval\'。',
    other: (what) => `页面未能启动（${what}）。请重新载入；如果仍然无效，请换一个浏览器。`,
  },
};

/** The language of a page whose own code has not come yet: `?lang=`, then the browser's. */
function language() {
  const wanted = new URLSearchParams(location.search).get('lang') ?? navigator.language ?? 'en';
  return wanted.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

function say(kind, what) {
  const words = WORDS[language()][kind];
  const box = document.getElementById('boot-problem');
  if (!box) return;
  box.textContent = typeof words === 'function' ? words(what) : words;
  box.lang = language() === 'zh' ? 'zh-CN' : 'en';
  box.hidden = false;
}

const short = (error) => String(error?.message ?? error).slice(0, 200);

/** The module, compiled; its own function so that each way to fail is told apart. */
async function compile(url) {
  let answer;
  try {
    answer = await fetch(url);
  } catch (error) {
    throw { kind: 'missing', what: short(error) };
  }
  if (!answer.ok) throw { kind: 'missing', what: `${url.pathname.split('/').pop()}: ${answer.status}` };
  try {
    // A wrong type only costs the streaming: the bytes are compiled all the same.
    const streaming = answer.headers.get('Content-Type')?.startsWith('application/wasm');
    return streaming
      ? await WebAssembly.compileStreaming(answer)
      : await WebAssembly.compile(await answer.arrayBuffer());
  } catch (error) {
    const policy = /unsafe-eval|content.security.policy|blocked by csp/i.test(short(error));
    throw policy ? { kind: 'blocked' } : { kind: 'broken', what: short(error) };
  }
}

async function boot() {
  if (typeof WebAssembly !== 'object') throw { kind: 'noWasm' };
  const [glue, module] = await Promise.all([
    import('./attnscope.js').catch((error) => {
      throw { kind: 'missing', what: short(error) };
    }),
    compile(new URL('./attnscope_bg.wasm', import.meta.url)),
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
  say(error?.kind ?? 'other', error?.what ?? short(error));
});
