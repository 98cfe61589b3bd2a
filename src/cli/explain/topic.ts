/** One row of a table of docs/reference, which `muster explain` prints by its name. */
export interface Entry {
  readonly name: string;
  /** Other names of the entry. */
  readonly aliases?: readonly string[];
  /** One text for each column of its topic, in Markdown; may be empty. */
  readonly cells: readonly string[];
}

/** A table of docs/reference. */
export interface Topic {
  /** The argument of `muster explain` for the whole table. */
  readonly name: string;
  readonly title: string;
  /** Noun for one entry. */
  readonly one: string;
  /** File in docs/reference. */
  readonly page: string;
  /** Columns beside the name: heads of the page, and keys of `-o json`. */
  readonly columns: readonly { readonly key: string; readonly head: string }[];
  readonly entries: readonly Entry[];
}

/** A value as code in Markdown. */
export const codeOf = (value: unknown): string =>
  `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
