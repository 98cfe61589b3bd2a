import type { Figure } from './measure/figures.ts';

/** What `--json` writes: everything that a page or a chart is made of. */
export interface Results {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  /** Processors that computed for somebody else when it began. */
  readonly elsewhere: number;
  readonly rows: readonly Figure[];
  /** Tables by name, as rows of cells, the first of them the head. */
  readonly tables: Readonly<Record<string, readonly (readonly string[])[]>>;
}
