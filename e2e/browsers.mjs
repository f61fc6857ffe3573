// The browsers, and how to start each so that WebGPU works without a display and without a graphics
// card.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const CANDIDATES = {
  chromium: {
    variable: 'ATTNSCOPE_CHROMIUM',
    names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    paths: [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    ],
  },
  firefox: {
    variable: 'ATTNSCOPE_FIREFOX',
    names: ['firefox-esr', 'firefox'],
    paths: [
      '/Applications/Firefox.app/Contents/MacOS/firefox',
      'C:\\Program Files\\Mozilla Firefox\\firefox.exe',
    ],
  },
};

export const BROWSERS = Object.keys(CANDIDATES);

/** The program of a browser: from its variable, the search path, then the usual places. */
export function find(name) {
  const { variable, names, paths } = CANDIDATES[name];
  const usable = (path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  };
  if (process.env[variable]) return usable(process.env[variable]) ? process.env[variable] : null;
  const dirs = (process.env.PATH ?? '').split(delimiter);
  const all = [...names.flatMap((program) => dirs.map((dir) => join(dir, program))), ...paths];
  return all.find(usable) ?? null;
}

/** Chromium needs these for WebGPU on a machine like this. */
const GPU_FLAGS = [
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  // Without the three Vulkan flags the first canvas frame kills the GPU process.
  '--enable-features=Vulkan',
  '--use-angle=swiftshader',
  '--use-vulkan=swiftshader',
];

/** Options of puppeteer-core's `launch` for a browser, with or without WebGPU; `prefs` are Firefox's. */
export function launchOptions(name, { gpu = true, prefs = {} } = {}) {
  const executablePath = find(name);
  if (!executablePath) {
    throw new Error(`no ${name} found: install it or set ${CANDIDATES[name].variable} to its program`);
  }
  const common = { executablePath, headless: true, timeout: 60_000, protocolTimeout: 180_000 };
  if (name === 'firefox') {
    return {
      ...common,
      browser: 'firefox',
      extraPrefsFirefox: {
        'dom.webgpu.enabled': gpu,
        // lavapipe is on the blocklist of drivers.
        'gfx.webgpu.ignore-blocklist': true,
        'intl.accept_languages': 'en-US',
        ...prefs,
      },
    };
  }
  return {
    ...common,
    browser: 'chrome',
    args: [
      '--no-sandbox',
      ...(gpu ? GPU_FLAGS : []),
      '--disable-gpu-watchdog',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--lang=en-US',
    ],
  };
}

// `node browsers.mjs chromium`: prints the program; exit status 1 when there is none.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const found = Object.hasOwn(CANDIDATES, process.argv[2] ?? '') ? find(process.argv[2]) : null;
  if (!found) process.exit(1);
  console.log(found);
}
