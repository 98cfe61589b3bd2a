type End = () => Promise<unknown> | undefined | void;

/**
 * What a program has begun, in the order in which it ends: at a signal, and where a later part cannot start. What is named
 * when it begins cannot be forgotten in one of the two.
 */
export class Begun {
  readonly #together: End[] = [];
  readonly #last: End[] = [];
  readonly #failed: (error: unknown) => void;

  /** @param failed is told of every end that fails; none prevents another */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Ends beside the others of its kind: the loop gives up its Lease while reviews are still drained. */
  endsTogether(end: End): void {
    this.#together.push(end);
  }

  /** Ends when those have ended, the last one first: they may need it until then. */
  endsLast(end: End): void {
    this.#last.push(end);
  }

  /** @throws the first failure, once everything has ended or failed */
  async end(): Promise<void> {
    const failures: unknown[] = [];
    const attempt = async (end: End): Promise<void> => {
      try {
        await end();
      } catch (error) {
        failures.push(error);
        this.#failed(error);
      }
    };
    await Promise.all(this.#together.splice(0).map(attempt));
    for (const end of this.#last.splice(0).reverse()) await attempt(end);
    if (failures.length > 0) throw failures[0];
  }

  /** @throws what `start` throws, once all that had begun until then has ended */
  async orEnd<T>(start: () => Promise<T>): Promise<T> {
    try {
      return await start();
    } catch (thrown) {
      await this.end().catch(() => undefined);
      throw thrown;
    }
  }
}
