import { isAlias, isMap, isScalar, isSeq, type Document, type Node } from 'yaml';

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** `metadata.labels[grove.io/podgang]`, `spec.podgroups[0].name`: keys and list positions from the root. */
export const stepsOf = (field: string): string[] =>
  [...field.matchAll(STEP)].map(([, inQuotes, inBrackets, plain]) => inQuotes ?? inBrackets ?? plain ?? '');

/** Offset of the key of what stands at `steps`, or of the innermost that exists. */
export function offsetOf(document: Document, steps: readonly string[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const step of steps) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node)) {
      const item = node.items[Number(step)];
      if (item === undefined) return offset;
      node = item;
      offset = (item as Node).range?.[0] ?? offset;
    } else if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
      if (pair === undefined) return offset;
      node = pair.value;
      offset = (pair.key as Node).range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}
