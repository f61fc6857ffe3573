// Measures screenshots.
import { PNG } from 'pngjs';

/** The number of different colours in a part of a PNG, and its size. */
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

/** The hatch of a part of a picture, by brightness alone: none, one way, or crossed. */
export function lines({ width, data }, { x, y, side }) {
  const light = (col, row) => {
    const at = (row * width + col) * 4;
    return 0.2126 * data[at] + 0.7152 * data[at + 1] + 0.0722 * data[at + 2];
  };
  let [low, high] = [255, 0];
  for (let row = y; row < y + side; row++) {
    for (let col = x; col < x + side; col++) {
      low = Math.min(low, light(col, row));
      high = Math.max(high, light(col, row));
    }
  }
  if (high - low < 12) return 'none';
  const line = (col, row) => Math.abs(light(col, row) - low) < (high - low) / 2;
  // Along lines from lower left to upper right nothing changes, unless others cross them.
  let [changes, count] = [0, 0];
  for (let row = y + 1; row < y + side; row++) {
    for (let col = x; col < x + side - 1; col++) {
      count += 1;
      if (line(col, row) !== line(col + 1, row - 1)) changes += 1;
    }
  }
  return changes / count < 0.1 ? 'one way' : 'crossed';
}

/** The colour in the middle of a map's cell: the median of a few pixels, channel by channel. */
export function middle({ width, data }, { x, y, size }, { rows, cols }, row, col) {
  const [left, top] = [x + ((col + 0.5) * size) / cols, y + ((row + 0.5) * size) / rows].map(Math.floor);
  const reach = size / Math.max(rows, cols) >= 8 ? 1 : 0;
  const parts = [[], [], []];
  for (let down = -reach; down <= reach; down++) {
    for (let right = -reach; right <= reach; right++) {
      const at = ((top + down) * width + left + right) * 4;
      parts.forEach((part, which) => part.push(data[at + which]));
    }
  }
  return parts.map((part) => part.sort((a, b) => a - b)[part.length >> 1]);
}

/** The place of a colour on a scale of colours, from 0 to 1, and its distance from the scale. */
export function place(colour, stops) {
  let best = { off: Infinity };
  for (let at = 0; at + 1 < stops.length; at++) {
    const [from, to] = [stops[at], stops[at + 1]];
    const along = to.map((value, part) => value - from[part]);
    const length = along.reduce((sum, value) => sum + value * value, 0);
    const dot = along.reduce((sum, value, part) => sum + value * (colour[part] - from[part]), 0);
    const share = length === 0 ? 0 : Math.min(1, Math.max(0, dot / length));
    const off = Math.hypot(...along.map((value, part) => from[part] + share * value - colour[part]));
    if (off < best.off) best = { off, t: (at + share) / (stops.length - 1) };
  }
  return best;
}

/** A function from a point of a PNG to its colour, `[red, green, blue]`. */
export function pixels(png) {
  const { data, width } = PNG.sync.read(Buffer.from(png));
  return (x, y) => [...data.subarray((Math.floor(y) * width + Math.floor(x)) * 4).subarray(0, 3)];
}
