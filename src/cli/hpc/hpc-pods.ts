import { printable } from '../../api/printable.ts';
import { configured } from '../input/configured.ts';
import type { SourceObject } from '../input/documents.ts';
import { policyFrom } from '../input/policy.ts';
import type { Finding } from '../output/findings.ts';
import { withGiven } from '../review/given-gangs.ts';
import { reviewObject } from '../review/review-object.ts';

/**
 * What keeps the Pods of the input from being prepared: what admission would say of them, as far as it is about Flux. All
 * else is for `muster review`, which knows the configuration.
 */
export async function podFindings(sources: readonly SourceObject[], namespace: string): Promise<Finding[]> {
  const { configuration, factories } = configured({ file: undefined });
  const defaults = policyFrom(configuration, { factories: await factories() });
  const policy = withGiven(defaults, sources, namespace);
  return sources.flatMap((source) =>
    reviewObject(source, { policy, namespace, username: 'muster-hpc' }).flatMap(({ causes, root }) =>
      causes
        .filter(({ rule }) => rule.startsWith('Hpc'))
        .map(({ field, message, rule }): Finding => {
          const path = root === '' ? field : `${root}.${field}`;
          const place = source.locate(path);
          return {
            file: source.file,
            ...place,
            severity: 'error',
            path,
            message: printable(message, 1024),
            rule,
          };
        }),
    ),
  );
}
