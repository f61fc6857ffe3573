// A network of a given speed between a server and a browser, for timings.
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const PACKED = new Set(['.html', '.js', '.css', '.wasm']);
const WAYS = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};
/** Each file is compressed once, in advance, as a host does. */
const known = new Map();

/** The bytes of `file` as a host sends them to a browser that accepts these encodings. */
export async function packed(file, bytes, accepts) {
  const encoding = Object.keys(WAYS).find((way) => accepts.split(/[\s,]+/).includes(way));
  if (!encoding || !PACKED.has(extname(file))) return { body: bytes };
  const key = `${encoding} ${file}`;
  if (!known.has(key)) known.set(key, WAYS[encoding](bytes));
  return { encoding, body: await known.get(key) };
}

/**
 * All answers share `bytesPerSecond`. Each begins `latency` ms after its request, and on a new
 * connection twice that.
 */
export class Link {
  #free = 0;
  #connections = new WeakSet();

  constructor({ bytesPerSecond, latency }) {
    Object.assign(this, { bytesPerSecond, latency });
  }

  async send(request, response, headers, body) {
    const isNew = !this.#connections.has(request.socket);
    this.#connections.add(request.socket);
    await sleep(this.latency * (isNew ? 2 : 1));
    response.writeHead(200, { ...headers, 'Content-Length': body.length });
    const piece = 8192;
    for (let at = 0; at < body.length && !response.destroyed; at += piece) {
      const part = body.subarray(at, at + piece);
      this.#free = Math.max(this.#free, performance.now()) + (1000 * part.length) / this.bytesPerSecond;
      await sleep(this.#free - performance.now());
      response.write(part);
    }
    response.end();
  }
}
