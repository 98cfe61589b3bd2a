/** What an object says by one key of its metadata, a scheduling gate or a condition; Markdown in each text. */
export interface Key {
  readonly key: string;
  readonly as: 'label' | 'annotation' | 'label or annotation' | 'finalizer' | 'scheduling gate' | 'condition';
  /** Kinds of objects on which it means something. */
  readonly on: string;
  readonly writer: string;
  readonly says: string;
  /** What holds where it is absent. */
  readonly without: string;
  /** How a wrong value, or a write by somebody else, is answered. */
  readonly wrong: string;
}
