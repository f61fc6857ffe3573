// Runs every test file here with Node's test runner, two at a time: no test asserts a time, and each
// mostly waits for its browser. `ATTNSCOPE_TAP` names a file for the machine-readable result.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(here)
  .filter((name) => name.endsWith('.test.mjs'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
  .sort()
  .map((name) => join(here, name));
if (files.length === 0) {
  console.error(`no test file matches ${wanted.join(' ')}`);
  process.exit(1);
}
const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
if (process.env.ATTNSCOPE_TAP) {
  reporters.push('--test-reporter=tap', `--test-reporter-destination=${process.env.ATTNSCOPE_TAP}`);
}
const child = spawn(process.execPath, ['--test', '--test-concurrency=2', ...reporters, ...files], {
  cwd: here,
  stdio: 'inherit',
});
child.on('exit', (code) => process.exit(code ?? 1));
