/** Remembers so much and no more, oldest first: what is too much is forgotten of the lane that has most. */
export class FairMemory<T> {
  readonly #max: number;
  readonly #lanes = new Map<string, Map<string, T>>();
  #size = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get(lane: string, key: string): T | undefined {
    return this.#lanes.get(lane)?.get(key);
  }

  /** What is set is the newest of its lane. */
  set(lane: string, key: string, value: T): void {
    this.delete(lane, key);
    const known = this.#lanes.get(lane);
    if (known === undefined) this.#lanes.set(lane, new Map([[key, value]]));
    else known.set(key, value);
    this.#size += 1;
    if (this.#size > this.#max) this.#forget();
  }

  delete(lane: string, key: string): void {
    const known = this.#lanes.get(lane);
    if (known?.delete(key) !== true) return;
    this.#size -= 1;
    if (known.size === 0) this.#lanes.delete(lane);
  }

  #forget(): void {
    let [largest, most] = ['', 0];
    for (const [lane, { size }] of this.#lanes) if (size > most) [largest, most] = [lane, size];
    for (const oldest of this.#lanes.get(largest)?.keys() ?? []) {
      this.delete(largest, oldest);
      break;
    }
  }
}
