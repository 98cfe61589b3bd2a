import { positionOf, subjectOf } from './render-review.ts';
import type { ReviewResult } from './review-result.ts';
import { toJson, toYaml } from '../input/yaml-dialect.ts';

/** Every result with all that is known of it, as one JSON array. */
export function reviewsAsJson(results: readonly ReviewResult[]): string {
  return `${toJson(results.map(jsonOf), 2)}\n`;
}

function jsonOf(result: ReviewResult): object {
  const { ref, reviewed, allowed, code, message, causes, warnings, backend, gang, changes, source } = result;
  return {
    ref,
    source: { file: source.file, ...source.locate('') },
    reviewed,
    allowed,
    code,
    message,
    causes: causes.map((cause) => ({ ...cause, ...positionOf(result, cause.field) })),
    warnings,
    backend: backend ?? null,
    gang: gang ?? null,
    patch: changes.map(({ operation }) => operation),
  };
}

/** Not what is refused, nor a review that sends no object. */
const isStored = (result: ReviewResult): boolean => result.stored !== undefined;

/**
 * The objects as they would be stored, one document each; for a workload, which is stored as it is, its Pods. What
 * is refused is left out.
 */
export function reviewsAsYaml(results: readonly ReviewResult[]): string {
  return results
    .filter(isStored)
    .map((result) => {
      const title = result.ref.template === undefined ? '' : `# ${subjectOf(result)}\n`;
      return `---\n${title}${toYaml(result.stored)}`;
    })
    .join('');
}

/** The patches, one RFC 6902 array a line: line N is for document N of the YAML. */
export function reviewsAsPatches(results: readonly ReviewResult[]): string {
  return results
    .filter(isStored)
    .map(({ changes }) => `${toJson(changes.map(({ operation }) => operation))}\n`)
    .join('');
}
