// A static server for tests: any path prefix, any fault.
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, resolve, sep } from 'node:path';

import { Link, packed } from './link.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/**
 * Serves `root` below `prefix` on a free port of 127.0.0.1.
 *
 * `server.fault(path)` may return `{ status }` (answer with it), `{ cut: share }` (a complete answer
 * with only that share of the file), `{ abort: share }` (the connection breaks off there), `{ type }`
 * (a wrong content type), `{ body }` (other content, as text or bytes) or nothing. `server.paths` lists
 * the requests; `server.headers` are sent with every answer; `server.cacheControl(path)` sets how long
 * it may be cached. `cors: false` leaves out `Access-Control-Allow-Origin`, `isolated: false` the
 * headers that a frame in a cross-origin isolated page needs. `mounts` are further folders by their
 * path under `prefix`. `link` is `{ bytesPerSecond, latency }` of a network between the server and the
 * browser, over which files travel compressed.
 */
export async function serve(root, { prefix = '/', cors = true, isolated = true, mounts = {}, link = null } = {}) {
  const slow = link && new Link(link);
  const state = { fault: () => null, cacheControl: () => 'no-store', paths: [], headers: {} };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://x').pathname);
    state.paths.push(path);
    const headers = { 'Cache-Control': state.cacheControl(path), ...state.headers };
    if (cors) headers['Access-Control-Allow-Origin'] = '*';
    if (isolated) {
      headers['Cross-Origin-Resource-Policy'] ??= 'cross-origin';
      headers['Cross-Origin-Embedder-Policy'] ??= 'require-corp';
    }
    const stop = (status) => {
      response.writeHead(status, { ...headers, 'Content-Type': 'text/plain' });
      response.end(`${status}\n`);
    };
    if (!path.startsWith(prefix)) return stop(404);
    const inner = path.slice(prefix.length);
    const mount = Object.keys(mounts).find((name) => inner.startsWith(`${name}/`));
    const base = resolve(mount ? mounts[mount] : root);
    let file = normalize(join(base, mount ? inner.slice(mount.length + 1) : inner));
    if (file !== base && !file.startsWith(base + sep)) return stop(404);
    const fault = state.fault(path) ?? {};
    if (fault.status) return stop(fault.status);
    let bytes;
    try {
      if ((await stat(file)).isDirectory()) file = join(file, 'index.html');
      bytes = await readFile(file);
    } catch {
      return stop(404);
    }
    headers['Content-Type'] = fault.type ?? TYPES[extname(file)] ?? 'application/octet-stream';
    const share = fault.cut ?? fault.abort;
    if (fault.body !== undefined) bytes = Buffer.from(fault.body);
    if (slow) {
      const { encoding, body } = await packed(file, bytes, request.headers['accept-encoding'] ?? '');
      if (encoding) headers['Content-Encoding'] = encoding;
      return slow.send(request, response, headers, body);
    }
    const sent = share === undefined ? bytes : bytes.subarray(0, Math.floor(bytes.length * share));
    response.writeHead(200, { ...headers, 'Content-Length': fault.abort === undefined ? sent.length : bytes.length });
    if (fault.abort === undefined) response.end(sent);
    else response.write(sent, () => setTimeout(() => response.destroy(), 50));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return Object.assign(state, {
    origin,
    url: origin + prefix,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  });
}
