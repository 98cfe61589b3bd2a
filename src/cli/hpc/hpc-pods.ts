import { configured } from '../input/configured.ts';
import type { SourceObject } from '../input/documents.ts';
import { policyFrom } from '../input/policy.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import { findingOf, type Finding } from '../output/findings.ts';
import { withGiven } from '../review/given-gangs.ts';
import { reviewObject } from '../review/review-object.ts';

/**
 * What keeps the Pods of the input from being prepared: what admission would say of them, as far as it is about their HPCPolicy. All
 * else is for `muster review`, which knows the configuration.
 */
export async function podFindings(
  sources: readonly SourceObject[],
  namespace: string,
  preparations: readonly PreparerFactory[],
): Promise<Finding[]> {
  const { configuration, factories } = configured({ file: undefined });
  const defaults = policyFrom(configuration, { factories: await factories(), preparations });
  const policy = withGiven(defaults, sources, namespace);
  return sources.flatMap((source) =>
    reviewObject(source, { policy, namespace, username: 'muster-hpc' }).flatMap(({ causes, root }) =>
      causes
        .filter(({ rule }) => /^(Hpc|Torch)/.test(rule))
        .map((cause) => findingOf(source, { ...cause, field: within(root, cause.field) })),
    ),
  );
}

const within = (root: string, field: string): string => (root === '' ? field : `${root}.${field}`);
