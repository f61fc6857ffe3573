// Compares what was drawn with what is right.

/** SPEC 7: the tolerance of an f32 engine, for a tensor whose largest magnitude is `largest`. */
export const tolerance = (largest) => 1e-5 + 1e-4 * largest;

/**
 * Compares two rows of numbers element by element. Throws with the worst element; different lengths and
 * numbers that are not finite never pass, on either side.
 */
export function compare(got, want, what) {
  if (want.length === 0) throw new Error(`${what}: nothing to compare with`);
  if (got.length !== want.length) throw new Error(`${what}: ${got.length} numbers where ${want.length} are wanted`);
  let largest = 0;
  for (let at = 0; at < want.length; at++) {
    if (!Number.isFinite(want[at])) throw new Error(`${what}: the reference has ${want[at]} at ${at}`);
    if (!Number.isFinite(got[at])) throw new Error(`${what}: ${got[at]} at ${at}, wanted ${want[at]}`);
    largest = Math.max(largest, Math.abs(want[at]));
  }
  const limit = tolerance(largest);
  let worst = 0;
  let where = 0;
  for (let at = 0; at < want.length; at++) {
    const error = Math.abs(got[at] - want[at]);
    if (error > worst) [worst, where] = [error, at];
  }
  if (worst > limit) {
    throw new Error(`${what}: ${got[where]} at ${where}, wanted ${want[where]}; error ${worst} is above ${limit}`);
  }
  return { worst, limit };
}
