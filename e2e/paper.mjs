// What the page prints, as pixels and as words with their places.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { PNG } from 'pngjs';

const run = promisify(execFile);
/** Picture pixels per CSS pixel. */
export const SCALE = 2;

/**
 * Prints the page: the number of sheets, the picture of the first, and its words with their places in
 * CSS pixels. `pdf` holds options of `page.pdf`.
 */
export async function print(page, pdf) {
  const folder = mkdtempSync(join(tmpdir(), 'attnscope-paper-'));
  try {
    const file = join(folder, 'paper.pdf');
    writeFileSync(file, await page.pdf({ format: 'a4', printBackground: false, ...pdf }));
    await run('pdftoppm', ['-r', String(96 * SCALE), '-png', file, join(folder, 'sheet')]);
    const { stdout } = await run('pdftotext', ['-bbox', file, '-'], { maxBuffer: 64 << 20 });
    const sheets = readdirSync(folder).filter((name) => name.endsWith('.png')).sort();
    const unescape = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" };
    const words = [...stdout.split('</page>')[0].matchAll(/<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)<\/word>/g)].map(
      ([, ...found]) => {
        const [left, top, right, bottom] = found.slice(0, 4).map((points) => (Number(points) * 96) / 72);
        return { left, top, right, bottom, text: found[4].replace(/&\w+;/g, (name) => unescape[name] ?? name) };
      },
    );
    return { sheets: sheets.length, picture: PNG.sync.read(readFileSync(join(folder, sheets[0]))), words };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
