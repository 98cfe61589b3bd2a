import { isAlias, isMap, isScalar, isSeq, type Document, type Node, type Scalar } from 'yaml';

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** `metadata.labels[grove.io/podgang]`, `spec.podgroups[0].name`: keys and list positions from the root. */
export const stepsOf = (field: string): string[] =>
  [...field.matchAll(STEP)].map(([, inQuotes, inBrackets, plain]) => inQuotes ?? inBrackets ?? plain ?? '');

interface Found {
  readonly value: unknown;
  /** Offset of the key; of the item itself in a list. */
  readonly offset: number;
}

/** What stands at each of `steps`, as far as they lead. */
function* walk(document: Document, steps: readonly string[]): Generator<Found> {
  let node: unknown = document.contents;
  for (const step of steps) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      const item = node.items[Number(step)] as Node | undefined;
      if (item === undefined) return;
      node = item;
      yield { value: node, offset: item.range?.[0] ?? 0 };
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) return;
      node = pair.value;
      yield { value: node, offset: (pair.key as Node).range?.[0] ?? 0 };
    } else return;
  }
}

/** Offset of the key of what stands at `steps`, or of the innermost that exists. */
export function offsetOf(document: Document, steps: readonly string[]): number {
  let offset = document.contents?.range?.[0] ?? 0;
  for (const found of walk(document, steps)) offset = found.offset;
  return offset;
}

/** The scalar at `steps`, with the text that it was read from. */
export function nodeAt(document: Document, steps: readonly string[]): Scalar | undefined {
  const found = [...walk(document, steps)];
  const last = found.length === steps.length ? found.at(-1)?.value : undefined;
  return isScalar(last) ? last : undefined;
}
