// Looking at screenshots.
import { PNG } from 'pngjs';

/** How many different colours there are in a part of a PNG, and how large it is. */
export function colours(png, part) {
  const image = PNG.sync.read(Buffer.from(png));
  const { x, y, width, height } = part ?? { x: 0, y: 0, width: image.width, height: image.height };
  const seen = new Set();
  for (let row = Math.floor(y); row < Math.min(image.height, y + height); row++) {
    for (let col = Math.floor(x); col < Math.min(image.width, x + width); col++) {
      seen.add(image.data.readUInt32BE((row * image.width + col) * 4));
    }
  }
  return { count: seen.size, width: image.width, height: image.height };
}
