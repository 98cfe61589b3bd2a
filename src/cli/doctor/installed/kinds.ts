import { isObject, own, type Json, type JsonObject } from '../../../json/json.ts';
import { objectName } from '../../../k8s/resource.ts';
import type { KindOfObject, Weight } from './judgement.ts';
import { POLICIES, WEBHOOKS } from './kinds-asked.ts';
import { PROGRAM_KINDS } from './kinds-program.ts';
import { same, type Difference } from './differences.ts';
import { kindName } from './wanted.ts';

/** `warning` where the cluster has all that is wanted and more, else `problem`. */
const moreIsLess = ({ wanted, found }: Difference): Weight =>
  wanted === undefined || (found !== undefined && holdsAll(wanted, found)) ? 'warning' : 'problem';

const holdsAll = (wanted: Json, found: Json): boolean =>
  Array.isArray(wanted) &&
  Array.isArray(found) &&
  wanted.every((one) => found.some((other) => same(one as Json, other as Json)));

const RBAC: Pick<KindOfObject, 'group' | 'strict' | 'inCluster' | 'why'> = {
  group: 'rights',
  strict: true,
  inCluster: true,
  why: 'Muster’s account, or whoever has it, may do something else than it would be allowed',
};

const ROLE: KindOfObject = {
  ...RBAC,
  check: 'roles',
  missing: 'Muster’s account lacks these rights',
  rows: [
    { field: /^aggregationRule/, weight: 'problem' },
    { field: /^rules/, weight: moreIsLess },
  ],
};

const BINDING: KindOfObject = {
  ...RBAC,
  check: 'bindings',
  missing: 'nobody has the rights of its role',
  rows: [{ field: /^subjects/, weight: moreIsLess }],
};

export const KINDS: Readonly<Record<string, KindOfObject>> = {
  MutatingWebhookConfiguration: { ...WEBHOOKS, check: 'mutating' },
  ValidatingWebhookConfiguration: { ...WEBHOOKS, check: 'validating' },
  ValidatingAdmissionPolicy: { ...POLICIES, check: 'validating' },
  ValidatingAdmissionPolicyBinding: {
    ...POLICIES,
    check: 'validating',
    missing: 'its policy is not bound, so without effect',
  },
  MutatingAdmissionPolicy: { ...POLICIES, check: 'mutating' },
  MutatingAdmissionPolicyBinding: {
    ...POLICIES,
    check: 'mutating',
    missing: 'its policy is not bound, so without effect',
  },
  ClusterRole: ROLE,
  Role: ROLE,
  ClusterRoleBinding: BINDING,
  RoleBinding: BINDING,
  CustomResourceDefinition: {
    group: 'definitions',
    check: 'fields',
    strict: true,
    inCluster: false,
    missing: 'the cluster does not know its objects',
    missingWeight: 'problem',
    why: 'the API server drops or refuses what this version writes, or shows it otherwise',
    rows: [
      { field: /^spec\.versions\[[^\]]*\]\.(additionalPrinterColumns|deprecat)/, weight: 'note' },
      { field: /\.(description|categories|shortNames|preserveUnknownFields)/, weight: 'free' },
      { field: /^spec\.names/, weight: 'free' },
      { field: /./, weight: 'warning' },
    ],
  },
  ...PROGRAM_KINDS,
};

/** The name of each object of the component `dashboard`. */
const DASHBOARD = 'muster-dashboard';

/** How findings about an object of the manifests are reported; undefined where there are none about its kind. */
export function judgedKind(object: JsonObject): KindOfObject | undefined {
  const kind = KINDS[kindName(object)];
  if (kind === undefined || objectName(object) !== DASHBOARD) return kind;
  return {
    ...kind,
    missing: 'the dashboard is not served, or knows no gangs; gangs move without it',
    missingWeight: 'warning',
    why: 'the dashboard runs otherwise than this version needs it',
    // The names that it answers to are the installer's.
    rows: [{ field: /\.args/, weight: 'note' }, ...kind.rows],
  };
}

/** Fields in which an additional or a missing item changes the meaning, such as the terms of a selector. */
export const EXACT: ReadonlySet<string> = new Set([
  ...['namespaceSelector', 'objectSelector', 'podSelector', 'selector', 'resourceRules', 'rules', 'subjects'],
  ...['roleRef', 'matchResources', 'expression', 'policyTypes'],
]);

/** Fields that read best as a whole in a finding. */
export const WHOLE: ReadonlySet<string> = new Set([
  ...['tolerations', 'topologySpreadConstraints', 'resources', 'securityContext', 'strategy'],
  ...['startupProbe', 'readinessProbe', 'livenessProbe'],
]);

/**
 * Labels and annotations with an effect: aggregation of roles, Pod Security admission, injection of a CA by cert-manager.
 */
const MEANT = /^(rbac\.authorization\.k8s\.io\/|pod-security\.kubernetes\.io\/enforce$|cert-manager\.io\/)/;

/** The labels or annotations that have an effect, with their values. */
export function meantIn(object: Json, list: 'labels' | 'annotations'): readonly (readonly [string, Json])[] {
  const found = own(own(object, 'metadata'), list);
  return isObject(found) ? Object.entries(found).filter(([key]) => MEANT.test(key)) : [];
}
