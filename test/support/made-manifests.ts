/** What the manifests say of the backends, made from what the backends say of themselves. */
import type { AccountRight, BackendFactory, CountedBy } from '../../src/backends/backend.ts';
import type { Kind } from '../../src/workloads/kind.ts';
import type { Made } from './made-documents.ts';

const BEGIN = "    # Made from the backends' folders by UPDATE_DOCS=1 npm run test:unit.\n";
const END = '    # Here ends what is made.\n';

/** The backend whose scheduler every cluster has: its rights are in the base, those of others in components. */
const OF_BASE = 'default-scheduler';

const list = (words: readonly string[]): string => `[${words.join(', ')}]`;
const quoted = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(', ')}]`;

const ruleOf = (name: string, { group, resources, verbs, names, why }: AccountRight): string =>
  [
    `  # The backend ${name}: ${why}.`,
    `  - apiGroups: ${list([group])}`,
    `    resources: ${list(resources)}`,
    ...(names === undefined ? [] : [`    resourceNames: ${list(names)}`]),
    `    verbs: ${list(verbs)}\n`,
  ].join('\n');

const rulesOf = ({ name, rights = [] }: BackendFactory): string =>
  rights.map((right) => ruleOf(name, right)).join('');

/** The part of Muster's ClusterRole that every cluster needs. */
export const rolesOf = (factories: readonly BackendFactory[]): Made => ({
  file: 'manifests/base/rbac.yaml',
  between: [
    '  # What the backend of every cluster says that it needs: made from its folder by UPDATE_DOCS=1 npm run test:unit.\n',
    '  # Here ends what is made.\n',
  ],
  text: factories
    .filter(({ name }) => name === OF_BASE)
    .map(rulesOf)
    .join(''),
});

/** A file that is made as a whole. */
export interface MadeFile {
  readonly file: string;
  readonly text: string;
}

/** What a cluster with another scheduler takes on top of the base: a kustomize component for each backend. */
export const componentsOf = (factories: readonly BackendFactory[]): MadeFile[] =>
  factories
    .filter(({ name, rights = [] }) => name !== OF_BASE && rights.length > 0)
    .flatMap((factory) => {
      const folder = `manifests/components/${factory.name}`;
      return [
        { file: `${folder}/kustomization.yaml`, text: componentOf(factory.name) },
        { file: `${folder}/rbac.yaml`, text: roleOf(factory) },
      ];
    });

const componentOf = (name: string): string =>
  `# What Muster's account may do for the backend ${name}, beside the base. For an overlay whose configuration has its profile.
# Made from the backend's folder by UPDATE_DOCS=1 npm run test:unit.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
  - rbac.yaml
`;

const roleOf = (factory: BackendFactory): string =>
  `# Made from the backend's folder by UPDATE_DOCS=1 npm run test:unit.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: muster-${factory.name}
  labels:
    app.kubernetes.io/name: muster
    app.kubernetes.io/part-of: muster
rules:
${rulesOf(factory)}---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: muster-${factory.name}
  labels:
    app.kubernetes.io/name: muster
    app.kubernetes.io/part-of: muster
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: muster-${factory.name}
subjects:
  - kind: ServiceAccount
    name: muster
    namespace: muster-system
`;

const POLICIES = 'manifests/policies';

/** What the policies go by: keys of Pods, and the kinds of the objects that Muster keeps. */
export const policiesOf = (factories: readonly BackendFactory[]): Made[] => [
  countedIn('gang-pod-identity', factories),
  countedIn('pod-binding', factories, ['labels']),
  keptKinds('gang-objects', ['CREATE', 'UPDATE', 'DELETE'], factories),
  keptKinds('muster-account', ['UPDATE', 'DELETE'], factories),
  {
    file: `${POLICIES}/gang-objects.yaml`,
    between: [
      "    # Made from the backends' folders by UPDATE_DOCS=1 npm run test:unit: fields of spec that schedulers write.\n",
      '    # Here ends what is made: fields.\n',
    ],
    text: variable(
      'schedulersFields',
      factories.flatMap(({ rights = [] }) => rights.flatMap(({ schedulersFields = [] }) => schedulersFields)),
    ),
  },
  groupNamedIn('group-strangers', factories),
  anyGroupNamedIn('mark-strangers', factories),
  groupNamedIn('binding-strangers', factories),
  groupInBinding(factories),
];

const variable = (name: string, values: readonly string[]): string =>
  `    - name: ${name}\n      expression: >-\n        ${quoted(values)}\n`;

function countedIn(
  policy: string,
  factories: readonly BackendFactory[],
  places: readonly (keyof CountedBy & ('labels' | 'annotations'))[] = ['labels', 'annotations'],
): Made {
  const names = { labels: 'countedLabels', annotations: 'countedAnnotations' };
  return {
    file: `${POLICIES}/${policy}.yaml`,
    between: [BEGIN, END],
    text: places
      .map((where) =>
        variable(
          names[where],
          factories.flatMap(({ countedBy }) => countedBy?.[where] ?? []),
        ),
      )
      .join(''),
  };
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
/** What Volcano calls the group of a Pod, of a ReplicaSet, of a StatefulSet, and KAI's podgrouper that of anything. */
const OF_A_CONTROLLER = `'^(podgroup|pg-.+)-${UUID}(-.*)?$'`;
/** And of one of its own Jobs. */
const OF_A_VOLCANO_JOB = `'-${UUID}$'`;
/** What the Job controller of Kubernetes calls the native group of a Job. */
const OF_A_JOB = '-pgt-[0-9]+-[a-z0-9]{1,12}$';

/** Whether a group has a name that a scheduler's own controller gives, to the Pods of what is no gang of Muster's. */
const givenName = (value: string): string[] => [
  `        ${value}.matches(${OF_A_CONTROLLER}) ||`,
  `        (${value}.matches(${OF_A_VOLCANO_JOB}) && ${value}.startsWith(`,
  "        object.metadata.?annotations[?'volcano.sh/job-name'].orValue('/') + '-'))",
];

/** Whether a Binding names a group that may be a gang's. Conditions know no variables. */
function groupInBinding(factories: readonly BackendFactory[]): Made {
  const keys = quoted(factories.flatMap(({ countedBy }) => countedBy?.annotations ?? []));
  const lines = [
    '    - name: names-a-group',
    '      expression: >-',
    `        ${keys}.exists(k,`,
    '        k in object.metadata.?annotations.orValue({}) && !(',
    ...givenName('object.metadata.annotations[k]'),
    '        ))',
  ];
  return { file: `${POLICIES}/mark-bindings.yaml`, between: [BEGIN, END], text: `${lines.join('\n')}\n` };
}

/** The keys that name a gang's group, by backend, and all of them. */
function groupNamedIn(policy: string, factories: readonly BackendFactory[]): Made {
  const named = factories.flatMap(({ name, countedBy }) =>
    countedBy?.groupNamedBy === undefined ? [] : [{ name, keys: countedBy.groupNamedBy }],
  );
  const entries = named.map(({ name, keys }) => `'${name}': ${quoted(keys)}`).join(',\n        ');
  return {
    file: `${POLICIES}/${policy}.yaml`,
    between: [BEGIN, END],
    text: [
      `    - name: keysOf\n      expression: >-\n        {${entries}}\n`,
      variable(
        'allKeys',
        named.flatMap(({ keys }) => keys),
      ),
    ].join(''),
  };
}

/**
 * Whether a Pod names any group that is not its own gang's. Conditions know no variables, so the keys stand there too. A gang's
 * Pod passes them as well: only a policy that was asked at first is asked again after a webhook has taken its labels away.
 */
function anyGroupNamedIn(policy: string, factories: readonly BackendFactory[]): Made {
  const keys = quoted(factories.flatMap(({ countedBy }) => countedBy?.groupNamedBy ?? []));
  const native = "['schedulingGroup', 'workloadRef'].exists(k, k in dyn(object.spec))";
  const lines = [
    '    - name: may-name-a-group',
    '      expression: >-',
    `        ${keys}.exists(k,`,
    '        k in object.metadata.?labels.orValue({}) || k in object.metadata.?annotations.orValue({})) ||',
    "        (request.operation == 'CREATE' && ('grove.io/podgang' in object.metadata.?labels.orValue({}) ||",
    `        ${native}))`,
    '  variables:',
    '    - name: gang',
    "      expression: object.metadata.?labels[?'grove.io/podgang'].orValue('')",
    '    - name: names',
    '      expression: >-',
    `        ${keys}.exists(k,`,
    "        [object.metadata.?labels[?k].orValue(''), object.metadata.?annotations[?k].orValue('')]",
    "        .exists(v, !(v in ['', variables.gang, request.namespace + '.' + variables.gang]) && !(",
    ...givenName('v'),
    '        )))',
    "        || (request.operation == 'CREATE' && !('grove.io/podgang' in object.metadata.?labels.orValue({})) &&",
    `        ${native} && !dyn(object.spec).?schedulingGroup.?podGroupName.orValue('').matches('${OF_A_JOB}'))`,
  ];
  return { file: `${POLICIES}/${policy}.yaml`, between: [BEGIN, END], text: `${lines.join('\n')}\n` };
}

/** What a backend may create it keeps. */
function keptKinds(
  policy: string,
  operations: readonly string[],
  factories: readonly BackendFactory[],
): Made {
  const kept = factories.flatMap(({ rights = [] }) => rights.filter(({ verbs }) => verbs.includes('create')));
  const rules = kept.flatMap(({ group, resources }) => [
    `      - apiGroups: ${list([group])}`,
    "        apiVersions: ['*']",
    `        operations: ${list(operations)}`,
    `        resources: ${list(resources)}`,
    "        scope: '*'",
  ]);
  return {
    file: `${POLICIES}/${policy}.yaml`,
    between: [BEGIN, END],
    text: ['    resourceRules:', ...rules, ''].join('\n'),
  };
}

/** A kind as far as rights and webhook rules go by it. */
type Served = Pick<Kind, 'group' | 'version' | 'plural' | 'clusterScoped'>;

const FROM_KINDS = '# Made from src/workloads/kinds by UPDATE_DOCS=1 npm run test:unit.\n';
const byGroup = (kinds: readonly Served[]) => [...Map.groupBy(kinds, ({ group }) => group)];
const pluralsOf = (all: readonly Served[]): string => list([...new Set(all.map(({ plural }) => plural))]);
const ofKinds = (file: string, indent: string, text: string): Made => ({
  file,
  between: [`${indent}${FROM_KINDS}`, `${indent}# Here ends what is made.\n`],
  text,
});

/** The rights to read workloads, of each API group. */
export const readersOf = (file: string, kinds: readonly Served[], verbs: readonly string[]): Made =>
  ofKinds(
    file,
    '  ',
    byGroup(kinds)
      .map(
        ([group, all]) =>
          `  - apiGroups: ${list([group])}\n    resources: ${pluralsOf(all)}\n    verbs: ${list(verbs)}\n`,
      )
      .join(''),
  );

/** What the webhook of workloads is asked about. Operators of one kind differ in its version, Kubernetes does not. */
export const workloadRulesOf = (kinds: readonly Served[]): Made =>
  ofKinds(
    'manifests/base/webhooks-validating.yaml',
    '      ',
    byGroup(kinds)
      .map(([group, all]) =>
        [
          `      - apiGroups: ${group === '' ? "['']" : list([group])}`,
          `        apiVersions: ${group.includes('.') ? "['*']" : list([all[0]?.version ?? ''])}`,
          '        operations: [CREATE, UPDATE]',
          `        resources: ${pluralsOf(all)}`,
          `        scope: ${all.some(({ clusterScoped }) => clusterScoped) ? "'*'" : 'Namespaced'}\n`,
        ].join('\n'),
      )
      .join(''),
  );
