import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  visit,
} from 'yaml';
import { printable, quoted, yamlTrouble } from '../text/printable.ts';
import type { ConfigFault, ConfigPath, PathFault } from './config-fault.ts';
import { formatPath } from './config-fault.ts';

/** Line and column, 1-based. */
export interface ConfigPosition {
  readonly line: number;
  readonly column: number;
}

/** A parsed configuration file: its value, the positions of its fields, and its faults as YAML. */
export interface DocumentSource {
  readonly value: unknown;
  readonly faults: readonly ConfigFault[];
  /** Whether the text is not YAML (JSON is YAML), so that its content cannot be checked. */
  readonly unreadable: boolean;
  /** Position of the value at `path`, or of the nearest value that contains it. */
  readonly locate: (path: ConfigPath, atKey?: boolean) => ConfigPosition;
}

/** The key and the value at one step of a path. */
export interface Step {
  /** Undefined for an item of a list. */
  readonly key?: Node;
  readonly value?: Node;
}

function child(node: Node | undefined, step: string | number): Step | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(step)] as Node | undefined;
    return item === undefined ? undefined : { value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = (node.items as Pair<Node, Node | null>[]).findLast(
    ({ key }) => isScalar(key) && String(key.value) === String(step),
  );
  return pair && { key: pair.key, ...(pair.value === null ? {} : { value: pair.value }) };
}

/** The nodes along `path`, as far as it exists; aliases are followed. */
export function* stepsThrough(document: Document, path: readonly (string | number)[]): Generator<Step> {
  let here: Node | undefined = document.contents ?? undefined;
  for (const step of path) {
    const next = child(isAlias(here) ? here.resolve(document) : here, step);
    if (next === undefined) return;
    yield next;
    here = next.value;
  }
}

/** Offset of the value at `path`, or of the innermost value on the way to it that exists. */
function offsetOf(document: Document, path: ConfigPath, atKey: boolean): number {
  let offset = document.contents?.range?.[0] ?? 0;
  let index = 0;
  for (const { key, value } of stepsThrough(document, path)) {
    index += 1;
    const shown = (atKey && index === path.length) || !isScalar(value) ? (key ?? value) : value;
    offset = shown?.range?.[0] ?? offset;
  }
  return offset;
}

/** Reports an alias inside of the node that it names: its value would be endless. */
function aliasFaults(document: Document): { message: string; offset: number }[] {
  const faults: { message: string; offset: number }[] = [];
  visit(document, {
    Alias(_, alias) {
      const offset = alias.range?.[0] ?? 0;
      const target = alias.resolve(document);
      if (target === undefined)
        faults.push({ message: `alias *${printable(alias.source, 80)} names no anchor`, offset });
      else if ((target.range?.[0] ?? 0) <= offset && offset < (target.range?.[1] ?? 0)) {
        faults.push({ message: `alias *${printable(alias.source, 80)} contains itself`, offset });
      }
    },
  });
  return faults;
}

/** Keys that occur twice in one mapping. The last one counts, as in every YAML reader that accepts them. */
function* duplicateKeys(
  node: unknown,
  path: ConfigPath,
): Generator<{ path: ConfigPath; key: string; offset: number }> {
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) yield* duplicateKeys(item, [...path, index]);
  if (!isMap(node)) return;
  const seen = new Set<string>();
  for (const { key, value } of node.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (seen.has(name)) yield { path: [...path, name], key: name, offset: key.range?.[0] ?? 0 };
    seen.add(name);
    yield* duplicateKeys(value, [...path, name]);
  }
}

/** Syntax errors that are reported: a file that is not YAML has one in every line. */
const MOST_SYNTAX_FAULTS = 10;

/** Parses one YAML or JSON document. Never throws. */
export function readDocument(text: string): DocumentSource {
  const lines = new LineCounter();
  const at = (offset: number): ConfigPosition => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fault = (message: string, offset: number): ConfigFault => ({
    path: '',
    message,
    severity: 'error',
    ...at(offset),
  });
  const broken = (faults: ConfigFault[]): DocumentSource => ({
    value: undefined,
    faults,
    unreadable: true,
    locate: () => ({ line: 1, column: 1 }),
  });

  try {
    const parsed = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: true,
      uniqueKeys: false,
      logLevel: 'error',
    });
    const documents = [...parsed].filter(
      ({ contents, errors }) =>
        errors.length > 0 || (contents !== null && !(isScalar(contents) && contents.value === null)),
    );
    const [document, surplus] = documents;
    if (document === undefined)
      return broken([fault('the file is empty: apiVersion and kind are required', 0)]);

    const syntax = documents
      .flatMap(({ errors }) => errors)
      .map((problem) => fault(`not YAML: ${yamlTrouble(problem)}`, problem.pos[0]));
    syntax.push(...aliasFaults(document).map(({ message, offset }) => fault(`not YAML: ${message}`, offset)));
    if (syntax.length > 0) return broken(syntax.slice(0, MOST_SYNTAX_FAULTS));

    const faults = [...duplicateKeys(document.contents, [])].map(({ path, key, offset }): ConfigFault => ({
      ...fault(`duplicate key ${quoted(key)}`, offset),
      path: formatPath(path),
    }));
    if (surplus !== undefined) {
      const offset = surplus.range[0];
      faults.push(fault('more than one document: a configuration is a single one', offset));
    }
    return {
      value: document.toJS() as unknown,
      faults,
      unreadable: false,
      locate: (path, atKey = false) => at(offsetOf(document, path, atKey)),
    };
  } catch (thrown) {
    return broken([fault(`not YAML: ${yamlTrouble(thrown as Error)}`, 0)]);
  }
}

/** The fault with its position in `source`. */
export function locateFinding(finding: PathFault, source: DocumentSource | undefined): ConfigFault {
  const { path, message, severity, atKey } = finding;
  const position = source?.locate(path, atKey ?? false) ?? {};
  return { path: formatPath(path), message, severity, ...position };
}
