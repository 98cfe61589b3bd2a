/** One row of a table of docs/reference, and what `muster explain` says of its name. */
export interface Entry {
  readonly name: string;
  /** Other names by which it is found. */
  readonly aliases?: readonly string[];
  /** One text for each column of its topic, in Markdown; empty where there is nothing to say. */
  readonly cells: readonly string[];
}

/** A table of docs/reference. */
export interface Topic {
  /** The word for it behind `muster explain`. */
  readonly name: string;
  readonly title: string;
  /** What one of its entries is. */
  readonly one: string;
  /** In docs/reference. */
  readonly page: string;
  /** Heads of the columns behind the name: the words of the page, and the keys of `-o json`. */
  readonly columns: readonly { readonly key: string; readonly head: string }[];
  readonly entries: readonly Entry[];
}

/** A value as Markdown shows code. */
export const codeOf = (value: unknown): string =>
  `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
