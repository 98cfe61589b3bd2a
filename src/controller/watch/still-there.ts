/** An object that is in the way for now: a predecessor on its way out. */
export class StillThere extends Error {
  override readonly name = 'StillThere';
}
