// Texts that a link could hold: legal ones, damaged ones, and noise. Seeded, so always the same.

/** Small and well known (mulberry32); repeatability matters here, quality does not. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const KEYS = [
  'v', 'src', 'm', 'causal', 'conv', 'w', 'left', 'right', 'dil', 'sinks', 'globals', 'inwin', 'scale',
  'reading', 'seg', 'pk', 'pk.shape', 'pk.each', 'pk.seed', 'pv', 'pv.shape', 'pv.each', 'pv.seed', 's',
  's.slope', 's.decay', 's.wave', 's.period', 's.bump', 's.at', 's.width', 's.dense', 's.seed', 'proj', 'pad', 'empty', 'rho', 'r', 'head', 'map', 'rect',
  'range', 'color', 'panel', 'cell', 'lang', 'theme', 'lesson', 'show', 'unknown', '',
];
const VALUES = [
  'sentence.1', 'paragraph.5', 'page.0', 'page.9', 'random.64.7', 'repeated.65536.1', 'local.0.0', 'longrange.99999999999.1',
  'full', 'window', 'cjar', 'distance', 'causal_distance', 'causal_count', 'longformer', 'explicit', 'softmax', 'bias',
  'product', 'zero', 'mean', 'partial', 'normal', 'xavier', 'sinusoidal', 'onehot', 'weights', 'score', 'auto', 'unit', 'linear', 'sqrt', 'log', 'en', 'zh', 'dark', 'all',
  'none', 'head', 'model', '0', '1', '2', '-1', '7', '24', '511', '65536', '4294967295', '4294967296', '-2147483648',
  '99999999999999999999', '0.5', '-3.25', '1e9', '1e999', '-1e-45', 'NaN', 'inf', '-Infinity', '0.0.24.24', '1.2', '3.3.0.0',
  '4294967295.4294967295.4294967295.4294967295', 'window,rank', ',,', '', ' ', '%', '%2', '%zz', '%00', '%e4%b8%ad',
  '%ff%fe', '中文', '٣', '𝟗', '\u0000', '\ud800', '<script>', '"', "'", '../..', '0x10', '1_000', '+1',
];

/** Makes `count` texts. */
export function fragments(count, seed = 20_260) {
  const next = random(seed);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const noise = () =>
    Array.from({ length: Math.floor(next() * 40) }, () => String.fromCodePoint(Math.floor(next() * 0x11_0000))).join('');
  const pair = () => `${pick(KEYS)}${pick(['=', '=', '=', '=', '==', ''])}${next() < 0.9 ? pick(VALUES) : noise()}`;
  const texts = [];
  while (texts.length < count) {
    let text = Array.from({ length: Math.floor(next() * 14) }, pair).join(pick(['&', '&', '&', '&amp;', ';', '&&']));
    if (next() < 0.5) text = `v=1&${text}`;
    if (next() < 0.2) text = `#${text}`;
    if (next() < 0.1) {
      const at = Math.floor(next() * (text.length + 1));
      text = text.slice(0, at) + noise() + text.slice(at + Math.floor(next() * 5));
    }
    if (next() < 0.02) text = noise();
    if (next() < 0.005) text = text.repeat(200);
    texts.push(text);
  }
  return texts;
}
