/**
 * A loop without an end, which is at work when that is found out after five seconds. Until then it spares the processor:
 * a whole suite runs beside it.
 */
export function forEver(): never {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let rests = 45; ; rests -= 1) if (rests > 0) Atomics.wait(cell, 0, 0, 100);
}
