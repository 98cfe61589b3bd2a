import type { KubernetesObject } from '../../support/manifests.ts';
import { Place, type Request } from './row.ts';
import { ROWS } from './table.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
}

/** Kinds of Muster's own, and the Grove operator's: whoever writes one has a gang. */
const OWN_GROUPS = ['scheduler.grove.io', 'muster.dev'];

/** `UPDATE apps/deployments`, as rules of policies and webhooks name it. */
function askedBy([method, path, , options]: Request): readonly string[] {
  const [, group = '', rest = ''] =
    /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(?:namespaces\/[^/]+\/(?=.))?([^?]+)/.exec(path) ?? [];
  const [plural = '', , subresource] = rest.split('/');
  const resource = `${group}/${[plural, ...(subresource === undefined ? [] : [subresource])].join('/')}`;
  const applies = options?.contentType === 'application/apply-patch+yaml';
  const operations = {
    POST: ['CREATE'],
    PUT: ['UPDATE'],
    PATCH: applies ? ['CREATE'] : ['UPDATE'],
    DELETE: ['DELETE'],
  };
  return (operations[method as keyof typeof operations] ?? []).map((operation) => `${operation} ${resource}`);
}

/**
 * What policies and webhooks are asked about and no row sends.
 * @param served what the cluster takes, such as `CREATE apps/deployments`: anything else nobody can send
 */
export function untouched(objects: readonly KubernetesObject[], served: ReadonlySet<string>): string[] {
  const place = new Place('x');
  const sent = new Set(ROWS.flatMap(({ sends }) => sends(place).flatMap(askedBy)));
  const parts = objects.flatMap((object) => {
    const {
      metadata,
      spec,
      webhooks = [],
    } = object as unknown as {
      metadata: { name: string };
      spec?: { matchConstraints?: { resourceRules: readonly Rule[] } };
      webhooks?: readonly { name: string; rules: readonly Rule[] }[];
    };
    const rules = spec?.matchConstraints?.resourceRules;
    return [...(rules === undefined ? [] : [{ name: metadata.name, rules }]), ...webhooks];
  });
  return parts.flatMap(({ name, rules }) =>
    rules
      .filter(({ apiGroups }) => !apiGroups.some((group) => OWN_GROUPS.includes(group)))
      .flatMap(({ apiGroups, operations, resources }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => operations.map((operation) => `${operation} ${group}/${resource}`)),
        ),
      )
      .filter((asked) => served.has(asked) && !sent.has(asked))
      .map((asked) => `${name}: ${asked}`),
  );
}
