import { isScalar, type Document, type Scalar } from 'yaml';
import { stepsThrough } from '../../config/document-source.ts';

const STEP = /\["((?:[^"\\]|\\.)*)"\]|\[([^\]]*)\]|([^.[\]]+)/g;

/** `metadata.labels[grove.io/podgang]`, `spec.podgroups[0].name`: keys and list positions from the root. */
export const stepsOf = (field: string): string[] =>
  [...field.matchAll(STEP)].map(([, inQuotes, inBrackets, plain]) => inQuotes ?? inBrackets ?? plain ?? '');

/** Offset of the key of what stands at `steps`, or of the innermost that exists. */
export function offsetOf(document: Document, steps: readonly string[]): number {
  let offset = document.contents?.range?.[0] ?? 0;
  for (const { key, value } of stepsThrough(document, steps)) offset = (key ?? value)?.range?.[0] ?? offset;
  return offset;
}

/** The scalar at `steps`, with the text that it was read from. */
export function nodeAt(document: Document, steps: readonly string[]): Scalar | undefined {
  const found = [...stepsThrough(document, steps)];
  const last = found.length === steps.length ? found.at(-1)?.value : undefined;
  return isScalar(last) ? last : undefined;
}
