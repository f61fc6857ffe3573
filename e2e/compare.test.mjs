// The comparison itself: every case that it must reject.
import assert from 'node:assert/strict';
import test from 'node:test';

import { compare, tolerance } from './compare.mjs';

test('a comparison passes within the tolerance and fails above it', () => {
  const want = [0.5, -0.25, 0];
  assert.ok(compare([0.5 + 5e-5, -0.25, 0], want, 'near').worst > 0);
  assert.throws(() => compare([0.5 + 7e-5, -0.25, 0], want, 'far'), /above/);
  assert.throws(() => compare([0.5, 0.25, 0], want, 'sign'), /wanted -0.25/);
  assert.equal(tolerance(0.5), 1e-5 + 5e-5);
});

test('NaN, infinity, missing numbers and nothing at all never pass', () => {
  assert.throws(() => compare([NaN], [0], 'a'), /NaN at 0/);
  assert.throws(() => compare([0], [NaN], 'b'), /reference has NaN/);
  assert.throws(() => compare([Infinity], [0], 'c'), /Infinity/);
  assert.throws(() => compare([0], [0, 0], 'd'), /1 numbers where 2/);
  assert.throws(() => compare([], [], 'e'), /nothing to compare/);
});
