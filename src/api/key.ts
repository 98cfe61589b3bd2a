/** A label, annotation, finalizer, scheduling gate or condition, and its meaning. Each text is Markdown. */
export interface Key {
  readonly key: string;
  readonly as: 'label' | 'annotation' | 'label or annotation' | 'finalizer' | 'scheduling gate' | 'condition';
  /** Kinds of objects on which the key has a meaning. */
  readonly on: string;
  readonly writer: string;
  readonly says: string;
  /** What holds for an object without the key. */
  readonly without: string;
  /** The answer to a wrong value, or to a write by an account that may not write the key. */
  readonly wrong: string;
}
