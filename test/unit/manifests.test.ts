/** The manifests and the Dockerfile as texts: names, rules and rights, without a cluster. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import {
  ANNOTATION_FLEET_QUEUE,
  ANNOTATION_FLEET_TERMS,
  ANNOTATION_HOSTS,
  ANNOTATION_HPC_POLICY,
  ANNOTATION_PREEMPTION_PLAN,
  ANNOTATION_MIRROR_POD,
  BINDING_GROUP,
  BINDING_VERSION,
  GATE_POD_GANG_PENDING,
  GROVE_OPERATOR_USER,
  HPC_POLICY_GROUP,
  HPC_POLICY_VERSION,
  LABEL_BASE_POD_GANG,
  LABEL_MANAGED_BY,
  LABEL_POD_CLIQUE,
  ANNOTATION_WORKLOAD,
  LABEL_FLEET_QUEUE,
  LABEL_GANG,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
  MANAGED_BY_GROVE,
  MUSTER_NAMESPACE,
  MUSTER_SERVICE_ACCOUNT,
  MUSTER_PREFIX,
  MUSTER_USER,
  PATH_MUTATE_BINDING,
  PATH_MUTATE_POD,
  PATH_MUTATE_POD_GANG,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
  PATH_VALIDATE_WORKLOAD,
  POD_GANG_GROUP,
  POD_GANG_KIND,
  POD_GANG_VERSION,
  SYSTEM_NAMESPACE,
} from '../../src/api/names.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
} from '../../src/api/preemption-terms.ts';
import { rules } from '../../src/api/rules.ts';
import { builtInBackends, supportedSchedulers } from '../../src/backends/registry.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { askedAbout } from '../../src/cli/doctor/expected-webhooks.ts';
import { gangKinds } from '../../src/workloads/kinds.ts';

// Manifests are read as they come; the assertions say what is expected of them.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Any = any;
/* eslint-disable @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument,
   @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-return */

const run = promisify(execFile);

interface Manifest {
  readonly file: string;
  readonly text: string;
  readonly object: Any;
}
let manifests: Manifest[];

beforeAll(async () => {
  const files = (await readdir('manifests', { recursive: true }))
    .filter((name) => name.endsWith('.yaml'))
    .sort();
  manifests = (
    await Promise.all(
      files.map(async (name) => {
        const file = join('manifests', name);
        const text = await readFile(file, 'utf8');
        return parseAllDocuments(text, { uniqueKeys: true, prettyErrors: true }).map((document) => {
          expect({ file, errors: document.errors, warnings: document.warnings }).toEqual({
            file,
            errors: [],
            warnings: [],
          });
          return { file, text, object: document.toJS() };
        });
      }),
    )
  ).flat();
});

/** A configuration file, or none, as `serve` would read it. */
const configured = (text?: string) =>
  loadConfiguration({
    ...(text === undefined ? {} : { text, fileName: 'config.yaml' }),
    env: {},
    flags: {},
    supportedSchedulers: supportedSchedulers().names,
  });

const ofKind = (kind: string | RegExp): Manifest[] =>
  manifests.filter(({ object }) =>
    typeof kind === 'string' ? object.kind === kind : kind.test(object.kind),
  );
const only = (kind: string): Any => {
  // What is for Karmada's API server is beside that, and the dashboard, which has tests of its own.
  const found = ofKind(kind).filter(
    ({ file }) => !/^manifests\/(karmada|components\/dashboard)\//.test(file),
  );
  expect({ kind, count: found.length }).toEqual({ kind, count: 1 });
  return found[0]?.object;
};
const named = (kind: string, name: string): Any => {
  const found = ofKind(kind).find(({ object }) => object.metadata.name === name);
  expect({ kind, name, found: found !== undefined }).toEqual({ kind, name, found: true });
  return found?.object;
};

describe('all manifests', () => {
  test('every file belongs to a kustomization, and every kustomization names files that are there', () => {
    const listed = new Set<string>();
    for (const { file, object } of ofKind(/^(Kustomization|Component)$/)) {
      const folder = file.slice(0, file.lastIndexOf('/'));
      listed.add(file);
      for (const resource of (object.resources ?? []) as string[]) listed.add(join(folder, resource));
      for (const { files } of object.configMapGenerator ?? []) {
        for (const name of files as string[]) listed.add(join(folder, name));
      }
    }
    expect(manifests.map(({ file }) => file).filter((file) => !listed.has(file))).toEqual([]);
  });

  test('what lives in a namespace lives in Muster’s', () => {
    const clusterWide =
      /^(Namespace|ClusterRole(Binding)?|CustomResourceDefinition|Kustomization|Component|OperatorConfiguration|.*WebhookConfiguration|.*AdmissionPolicy(Binding)?)$/;
    for (const { file, object } of manifests) {
      if (clusterWide.test(object.kind)) continue;
      expect({ file, namespace: object.metadata.namespace }).toEqual({ file, namespace: MUSTER_NAMESPACE });
    }
    expect(only('Namespace').metadata.name).toBe(MUSTER_NAMESPACE);
  });

  test('nothing secret is among them', () => {
    const keys = ofKind('Secret').map(({ object }) => [object.metadata.name, Object.keys(object).sort()]);
    expect(keys).toEqual([['muster-certificates', ['apiVersion', 'kind', 'metadata', 'type']]]);
    for (const { file, text } of manifests) {
      expect({ file, found: /BEGIN [A-Z ]*(PRIVATE KEY|CERTIFICATE)|caBundle:/.test(text) }).toEqual({
        file,
        found: false,
      });
    }
  });
});

describe('PodGang definition', () => {
  test('has the names of the API', () => {
    const { metadata, spec } = named('CustomResourceDefinition', 'podgangs.scheduler.grove.io');
    expect(metadata.name).toBe(`podgangs.${POD_GANG_GROUP}`);
    expect(spec).toMatchObject({ group: POD_GANG_GROUP, scope: 'Namespaced' });
    expect(spec.names).toEqual({
      kind: POD_GANG_KIND,
      listKind: 'PodGangList',
      plural: 'podgangs',
      singular: 'podgang',
      shortNames: ['pg'],
    });
    expect(spec.versions).toHaveLength(1);
    expect(spec.versions[0]).toMatchObject({
      name: POD_GANG_VERSION,
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        {
          name: 'Workload',
          type: 'string',
          jsonPath: `.metadata.annotations.${ANNOTATION_WORKLOAD.replaceAll('.', '\\.')}`,
        },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    });
  });

  test('asks for what Grove asks for, no more and no less', () => {
    const schema = named('CustomResourceDefinition', 'podgangs.scheduler.grove.io').spec.versions[0].schema
      .openAPIV3Schema;
    const required: Record<string, string[]> = {};
    const walk = (node: Any, path: string): void => {
      if (node.required) required[path] = [...node.required].sort();
      for (const word of [
        'x-kubernetes-validations',
        'default',
        'x-kubernetes-list-type',
        'x-kubernetes-list-map-keys',
      ]) {
        expect({ path, word, found: word in node }).toEqual({ path, word, found: false });
      }
      for (const [name, child] of Object.entries(node.properties ?? {}))
        walk(child, path ? `${path}.${name}` : name);
      if (node.items) walk(node.items, `${path}[]`);
    };
    walk(schema, '');
    expect(required).toEqual({
      '': ['spec'],
      spec: ['podgroups'],
      'spec.podgroups[]': ['minReplicas', 'name', 'podReferences'],
      'spec.podgroups[].podReferences[]': ['name', 'namespace'],
      'spec.topologyConstraintGroupConfigs[]': ['name', 'podGroupNames'],
      'spec.reuseReservationRef': ['name', 'namespace'],
      status: ['phase'],
      'status.conditions[]': ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
    });
    const { spec } = schema.properties;
    expect(spec.properties.podgroups.items.properties.minReplicas).toMatchObject({
      type: 'integer',
      format: 'int32',
    });
    expect(spec.properties.podgroups.items.properties.minReplicas.minimum).toBeUndefined();
  });
});

describe('webhook configurations', () => {
  const exists = (key: string, operator = 'Exists'): object => ({ key, operator });
  /** Each Pod comes once: by the gang that it names, or to be given one. */
  const selectors: Readonly<Record<string, object>> = {
    'MutatingWebhookConfiguration pods.muster.dev': {
      matchExpressions: [exists(LABEL_POD_GANG), exists(LABEL_GANG, 'DoesNotExist')],
    },
    'ValidatingWebhookConfiguration pods.muster.dev': { matchExpressions: [exists(LABEL_POD_GANG)] },
    'MutatingWebhookConfiguration workload-pods.muster.dev': { matchExpressions: [exists(LABEL_GANG)] },
    'ValidatingWebhookConfiguration workload-pods.muster.dev': {
      matchExpressions: [exists(LABEL_GANG), exists(LABEL_POD_GANG, 'DoesNotExist')],
    },
  };
  const notOurs = {
    matchExpressions: [
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [SYSTEM_NAMESPACE, MUSTER_NAMESPACE] },
    ],
  };
  const expected: [string, string, string, Record<string, unknown>][] = [
    [
      'MutatingWebhookConfiguration',
      'pods.muster.dev',
      PATH_MUTATE_POD,
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
    ],
    [
      'ValidatingWebhookConfiguration',
      'pods.muster.dev',
      PATH_VALIDATE_POD,
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] },
    ],
    [
      'MutatingWebhookConfiguration',
      'workload-pods.muster.dev',
      PATH_MUTATE_POD,
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
    ],
    [
      'ValidatingWebhookConfiguration',
      'workload-pods.muster.dev',
      PATH_VALIDATE_POD,
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] },
    ],
    [
      'MutatingWebhookConfiguration',
      'podgangs.muster.dev',
      PATH_MUTATE_POD_GANG,
      {
        apiGroups: [POD_GANG_GROUP],
        apiVersions: [POD_GANG_VERSION],
        operations: ['CREATE', 'UPDATE'],
        resources: ['podgangs'],
      },
    ],
    [
      'ValidatingWebhookConfiguration',
      'podgangs.muster.dev',
      PATH_VALIDATE_POD_GANG,
      {
        apiGroups: [POD_GANG_GROUP],
        apiVersions: [POD_GANG_VERSION],
        operations: ['CREATE', 'UPDATE'],
        resources: ['podgangs', 'podgangs/status'],
      },
    ],
    [
      'ValidatingWebhookConfiguration',
      'hpcpolicies.muster.dev',
      PATH_VALIDATE_HPC_POLICY,
      {
        apiGroups: [HPC_POLICY_GROUP],
        apiVersions: [HPC_POLICY_VERSION],
        operations: ['CREATE', 'UPDATE'],
        resources: ['hpcpolicies'],
      },
    ],
  ];

  test.each(expected)('%s %s', (kind, name, path, rule) => {
    const selector = selectors[`${kind} ${name}`];
    const hook = named(kind, 'muster').webhooks.find((candidate: Any) => candidate.name === name);
    expect(hook).toMatchObject({
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      timeoutSeconds: 5,
      matchPolicy: 'Equivalent',
      clientConfig: { service: { name: 'muster', namespace: MUSTER_NAMESPACE, port: 443, path } },
      rules: [{ ...rule, scope: 'Namespaced' }],
    });
    expect(hook.reinvocationPolicy).toBe(kind.startsWith('Mutating') ? 'IfNeeded' : undefined);
    expect(hook.objectSelector).toEqual(selector);
    expect(hook.namespaceSelector).toEqual(selector === undefined ? undefined : notOurs);
    expect(hook.matchConditions.length).toBeGreaterThan(0);
  });

  test('that of workloads only helps, and is asked about those with the label alone', () => {
    const { webhooks } = named('ValidatingWebhookConfiguration', 'muster');
    const hook = webhooks.find(({ name }: Any) => name === 'workloads.muster.dev');
    expect(hook).toMatchObject({
      name: 'workloads.muster.dev',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Ignore',
      timeoutSeconds: 2,
      matchPolicy: 'Equivalent',
      namespaceSelector: notOurs,
      clientConfig: {
        service: { name: 'muster', namespace: MUSTER_NAMESPACE, port: 443, path: PATH_VALIDATE_WORKLOAD },
      },
    });
    expect(hook.matchConditions[0].expression).toContain(`key.startsWith('${MUSTER_PREFIX}')`);
    const asked = hook.rules.flatMap(({ apiGroups, resources }: Any) =>
      resources.map((resource: string) => `${apiGroups[0]}/${resource}`),
    );
    expect(asked.toSorted()).toEqual(
      askedAbout(gangKinds)
        .map(({ group, resource }) => `${group}/${resource}`)
        .toSorted(),
    );
    // What makes the workload of another kind is asked about itself, and what can never be a gang.
    expect(asked).toEqual(
      expect.arrayContaining(['apps/deployments', 'ray.io/rayservices', '/replicationcontrollers']),
    );
    for (const { apiGroups, operations, scope } of hook.rules)
      expect({ operations, scope }).toEqual({
        operations: ['CREATE', 'UPDATE'],
        // One of its kinds has no namespace.
        scope: apiGroups[0] === 'trainer.kubeflow.org' ? '*' : 'Namespaced',
      });
  });

  test('there are no other webhooks, and theirs is the first turn', () => {
    const hooks = ofKind(/^(Mutating|Validating)WebhookConfiguration$/)
      .filter(({ file }) => !file.startsWith('manifests/karmada/'))
      .flatMap(({ object }) => object.webhooks);
    // That of workloads besides, and the validating half of those of workloads' Pods.
    expect(hooks).toHaveLength(expected.length + 1);
    expect(named('MutatingWebhookConfiguration', 'muster').metadata.name < 'mutating-kai-admission').toBe(
      true,
    );
  });

  test('bindings of Karmada have a configuration of their own, which fails closed', () => {
    const { webhooks } = named('MutatingWebhookConfiguration', 'muster-fleet-queues');
    expect(webhooks).toMatchObject([
      {
        failurePolicy: 'Fail',
        sideEffects: 'None',
        clientConfig: { service: { name: 'muster', namespace: MUSTER_NAMESPACE, path: PATH_MUTATE_BINDING } },
        rules: [
          {
            ...{ apiGroups: [BINDING_GROUP], apiVersions: [BINDING_VERSION], operations: ['CREATE'] },
            ...{ resources: ['resourcebindings'], scope: 'Namespaced' },
          },
        ],
        // Whoever has no queue is never asked about.
        namespaceSelector: {
          matchExpressions: [
            { key: LABEL_FLEET_QUEUE, operator: 'Exists' },
            { key: LABEL_FLEET_QUEUE, operator: 'NotIn', values: [''] },
          ],
        },
      },
    ]);
    // Found by Karmada's API server in itself.
    const service = ofKind('Service').find(({ file }) => file.startsWith('manifests/karmada/'))?.object;
    expect(service.spec).toEqual({ type: 'ExternalName', externalName: `muster.${MUSTER_NAMESPACE}.svc` });
    const policy = named('ValidatingAdmissionPolicy', 'muster-fleet-queues').spec;
    expect(policy.failurePolicy).toBe('Fail');
    expect(named('ValidatingAdmissionPolicyBinding', 'muster-fleet-queues').spec).toEqual({
      policyName: 'muster-fleet-queues',
      validationActions: ['Deny'],
    });
    const text = JSON.stringify(policy);
    for (const key of [ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, MUSTER_USER])
      expect(text).toContain(`'${key}'`);
  });

  test('who reaches Karmada may look its name up, and call the port that it listens on', () => {
    const access = ofKind('Component').find(({ file }) =>
      file.includes('components/karmada-access/'),
    )?.object;
    const { patch } = access.patches.find(({ target }: Any) => target.kind === 'NetworkPolicy');
    const [{ op, path, value }] = parse(patch);
    expect({ op, path }).toEqual({ op: 'add', path: '/spec/egress/-' });
    expect(only('NetworkPolicy').spec.egress).toEqual([
      expect.not.objectContaining({ to: expect.anything() }),
    ]);
    expect(value.ports).toEqual([
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
      { port: 5443, protocol: 'TCP' },
    ]);
  });

  test('conditions name the accounts and keys that the program knows', () => {
    const text = ofKind('ValidatingWebhookConfiguration')[0]?.text ?? '';
    expect(text).toContain(`'${MUSTER_USER}'`);
    const terms = [
      ANNOTATION_DISRUPTION_MODE,
      ANNOTATION_HOSTS,
      ANNOTATION_HPC_POLICY,
      ANNOTATION_PREEMPTION_PLAN,
      ANNOTATION_PREEMPTION_POLICY,
      ANNOTATION_PREEMPTION_PRIORITY_CLASS,
    ];
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`[${terms.map((key) => `'${key}'`).join(', ')}].exists(`);
    for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration']) {
      expect(ofKind(kind)[0]?.text).toContain(`'${ANNOTATION_MIRROR_POD}' in object`);
    }
  });
});

describe('policies', () => {
  const accountsIn = (expression: string): string[] =>
    [...expression.matchAll(/'([^']+)'/g)].map((found) => found[1] ?? '');
  /** Those for the cluster that Muster runs in. */
  const policies = () =>
    ofKind(/AdmissionPolicy$/).filter(
      ({ file }) => !/^manifests\/(karmada|components\/dashboard)\//.test(file),
    );
  /** Names of those that name the trusted accounts, where an overlay finds them. */
  const trusting = (): string[] =>
    policies()
      .filter(({ object }) => object.spec.variables?.[0]?.name === 'trusted')
      .map(({ object }) => object.metadata.name)
      .sort();

  test('each is bound, fails closed, denies and leaves kube-system alone', () => {
    expect(policies().length).toBeGreaterThan(15);
    for (const { object } of policies()) {
      const { name } = object.metadata;
      const binding = named(`${object.kind}Binding`, name).spec;
      expect({ name, policy: binding.policyName }).toEqual({ name, policy: name });
      expect(binding.validationActions).toEqual(object.kind.startsWith('Validating') ? ['Deny'] : undefined);
      // Its parameters are PodGangs, whose definition may be missing: nobody could create a Pod then.
      const failurePolicy = object.spec.paramKind === undefined ? 'Fail' : 'Ignore';
      expect({ name, failurePolicy: object.spec.failurePolicy }).toEqual({ name, failurePolicy });
      expect(object.spec.paramKind === undefined || /-strangers$/.test(name)).toBe(true);
      const { resourceRules, namespaceSelector, objectSelector } = object.spec.matchConstraints;
      for (const rule of resourceRules) {
        // Deletion is nobody's business but where a scheduler counts by what is deleted, and of what Muster deletes.
        if (!/-objects$|-account-(made|deleted)-/.test(name)) expect(rule.operations).not.toContain('DELETE');
        expect(rule.operations).not.toContain('*');
      }
      if (!resourceRules.some((rule: Any) => /pods|bindings/.test(rule.resources)) || /-account-/.test(name))
        continue;
      expect(namespaceSelector.matchExpressions[0].values).toContain(SYSTEM_NAMESPACE);
      expect({ name, selects: objectSelector !== undefined }).toEqual({
        name,
        selects: /gang|(group|binding)-strangers/.test(name),
      });
    }
  });

  test('the lists of trusted accounts are the one of the program', () => {
    const lists = policies().flatMap(({ object }) =>
      (object.spec.variables ?? [])
        .filter((variable: Any) => variable.name === 'trusted')
        .map((variable: Any) => accountsIn(variable.expression)),
    );
    expect(lists.length).toBeGreaterThan(3);
    expect(lists).toEqual(trusting().map(() => [MUSTER_USER]));
    for (const { file, text } of manifests) {
      if (/manifests\/components\/grove-operator/.test(file)) continue;
      expect({ file, trusts: text.includes(GROVE_OPERATOR_USER) }).toEqual({ file, trusts: false });
    }
  });

  test('manifests/trust.ts writes the accounts of the configuration into the policies', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'muster-trust-'));
    try {
      await cp('manifests', copy, { recursive: true });
      const trust = (): Promise<unknown> => run(process.execPath, ['manifests/trust.ts', copy]);
      const texts = () =>
        Promise.all(
          ['gang-objects', 'gang-pod-gate', 'podgang-initialized', 'podgang-spec'].map((name) =>
            readFile(join(copy, `policies/${name}.yaml`), 'utf8'),
          ),
        );
      const component = () => readFile(join(copy, 'components/grove-operator/kustomization.yaml'), 'utf8');
      const before = [...(await texts()), await component()];
      await trust();
      expect([...(await texts()), await component()]).toEqual(before);
      const config = join(copy, 'base/config.yaml');
      const written = await readFile(config, 'utf8');
      await writeFile(config, written.replace(`  - ${MUSTER_USER}\n`, '$&  - jobs@example.com\n'));
      await trust();
      const after = await texts();
      for (const text of after) {
        const [policy] = parseAllDocuments(text).map((document) => document.toJS());
        expect(policy.spec.variables[0].name).toBe('trusted');
        expect(accountsIn(policy.spec.variables[0].expression)).toEqual([MUSTER_USER, 'jobs@example.com']);
      }
      const [{ patches }] = parseAllDocuments(await component()).map((document) => document.toJS());
      const [environment, expression] = patches.map(({ patch }: Any) => parse(patch).at(-1).value);
      const all = [MUSTER_USER, 'jobs@example.com', GROVE_OPERATOR_USER];
      expect(environment).toEqual({ name: 'MUSTER_TRUSTED_ACCOUNTS', value: all.join(',') });
      expect(accountsIn(expression)).toEqual(all);
      expect(patches[1].target.name.split('|')).toEqual(trusting());
      for (const list of ['', 'trustedAccounts:\n  - "it\\u0027s"\n']) {
        await writeFile(config, written.replace(/^trustedAccounts:\n( +- .*\n)+/m, list));
        await expect(trust()).rejects.toThrow(/trustedAccounts/);
      }
      expect(await texts()).toEqual(after);
    } finally {
      await rm(copy, { recursive: true });
    }
  });

  test('the default configuration trusts the same accounts', () => {
    const { configuration } = configured();
    expect(configuration.trustedAccounts).toEqual([MUSTER_USER]);
  });

  test('keys and gates are spelt as the program spells them', () => {
    const known = new Set([
      LABEL_POD_GANG,
      LABEL_POD_CLIQUE,
      LABEL_BASE_POD_GANG,
      GATE_POD_GANG_PENDING,
      LABEL_MANAGED_BY,
      LABEL_SCHEDULER_NAME,
      ANNOTATION_MIRROR_POD,
      ...builtInBackends.flatMap(({ countedBy }) => countedBy?.annotations ?? []),
    ]);
    for (const { file, object } of policies()) {
      const literals = [
        ...JSON.stringify(object.spec).matchAll(/'((?:[a-z.]+\.)?(?:grove|kubernetes)\.io\/[a-z-.]+)'/g),
      ];
      for (const [, key = ''] of literals)
        expect({ file, key, known: known.has(key) }).toEqual({ file, key, known: true });
    }
    expect(JSON.stringify(named('ValidatingAdmissionPolicy', 'muster-podgang-initialized'))).toContain(
      `'${MANAGED_BY_GROVE}'`,
    );
  });

  test('what is added is an ApplyConfiguration: the other form panics the API server', () => {
    for (const [name, adds] of [
      ['muster-add-gang-gate', GATE_POD_GANG_PENDING],
      ['muster-mark-bindings', 'muster.dev/names-group'],
      ['muster-mark-strangers', 'muster.dev/names-group'],
    ]) {
      const { spec } = named('MutatingAdmissionPolicy', name ?? '');
      expect(spec.reinvocationPolicy).toBe('IfNeeded');
      expect(spec.mutations).toHaveLength(1);
      expect(spec.mutations[0].patchType).toBe('ApplyConfiguration');
      expect(spec.mutations[0].applyConfiguration.expression).toContain(`'${adds}'`);
    }
  });

  test('every refusal names a rule that the documentation explains, and says the same with and without details', async () => {
    const pages = await Promise.all(
      ['manifests', 'fleet'].map((page) => readFile(`docs/${page}.md`, 'utf8')),
    );
    const documentation = pages.join('\n');
    for (const { object } of ofKind('ValidatingAdmissionPolicy')) {
      for (const { message, messageExpression, reason } of object.spec.validations) {
        const rule = /; [^;]+ \[(\w+)\]$/.exec(message)?.[1] ?? '';
        expect({ message, rule: rule !== '' }).toEqual({ message, rule: true });
        expect(documentation).toContain(`\`${rule}\``);
        if (rule in rules) {
          const { code } = rules[rule as keyof typeof rules];
          expect({ rule, reason }).toEqual({ rule, reason: code === 403 ? 'Forbidden' : 'Invalid' });
        }
        if (messageExpression !== undefined) expect(messageExpression).toContain(`[${rule}]`);
        expect(message).not.toContain('\n');
      }
    }
  });
});

describe('the Deployment and what is around it', () => {
  const pod = (): Any => only('Deployment').spec.template.spec;
  const container = (): Any => pod().containers[0];

  test('meets Pod Security restricted, and the namespace enforces it', () => {
    expect(only('Namespace').metadata.labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
    expect(pod().securityContext).toEqual({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container().securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const field of ['hostNetwork', 'hostPID', 'hostIPC', 'initContainers'])
      expect(pod()[field]).toBeUndefined();
    expect(pod().containers).toHaveLength(1);
  });

  test('rolls without a gap, spreads, and drains for as long as an API server keeps a connection', () => {
    const { spec } = only('Deployment');
    expect(spec.replicas).toBe(3);
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(pod().topologySpreadConstraints.map((one: Any) => one.topologyKey)).toEqual([
      'topology.kubernetes.io/zone',
      'kubernetes.io/hostname',
    ]);
    expect(pod().priorityClassName).toBe('system-cluster-critical');
    const { configuration } = configured();
    expect(pod().terminationGracePeriodSeconds).toBeGreaterThan(
      configuration.server.webhooks.drain.maxSeconds,
    );
    const budget = only('PodDisruptionBudget').spec;
    expect(budget).toMatchObject({ minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    for (const selector of [spec.selector, budget.selector, only('NetworkPolicy').spec.podSelector]) {
      expect(selector.matchLabels).toEqual({ 'app.kubernetes.io/name': 'muster' });
    }
    expect(only('Service').spec.selector).toEqual({ 'app.kubernetes.io/name': 'muster' });
    expect(spec.template.metadata.labels['app.kubernetes.io/name']).toBe('muster');
  });

  test('starts the program with flags that it has, on the ports that it serves', async () => {
    const { configuration } = configured();
    const { webhooks, healthProbes, metrics } = configuration.server;
    expect(container().ports).toEqual([
      { name: 'webhooks', containerPort: webhooks.port },
      { name: 'health', containerPort: healthProbes.port },
      { name: 'metrics', containerPort: metrics.port },
    ]);
    expect(only('Service').spec.ports[0]).toMatchObject({ port: 443, targetPort: 'webhooks' });
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      expect(container()[probe].httpGet).toEqual({
        path: probe === 'readinessProbe' ? '/readyz' : '/healthz',
        port: 'health',
      });
    }
    const mounts = Object.fromEntries(container().volumeMounts.map((one: Any) => [one.name, one]));
    expect(mounts.certs).toEqual({ name: 'certs', mountPath: webhooks.serverCertDir, readOnly: true });
    expect(container().args).toEqual([
      'serve',
      `--config=${mounts.config.mountPath}/config.yaml`,
      `--cert-dir=${webhooks.serverCertDir}`,
    ]);
    const { serveCommand } = await import('../../src/cli/serve/serve.ts');
    const help = serveCommand({} as Any).helpInformation();
    for (const argument of container().args.slice(1)) expect(help).toContain(argument.split('=')[0]);
    expect(container().env).toEqual([
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
    ]);
  });

  test('has memory to hold what it accepts at once, and no CPU limit', () => {
    const { configuration } = configured();
    expect(container().resources.limits).toEqual({ memory: '512Mi' });
    expect(512 * 1024 * 1024).toBeGreaterThan(4 * configuration.server.webhooks.limits.maxInFlightBytes);
  });

  test('the certificate is for the Service, in the Secret that is mounted', () => {
    const leaf = named('Certificate', 'muster-serving').spec;
    expect(leaf.secretName).toBe(pod().volumes.find((one: Any) => one.name === 'certs').secret.secretName);
    const { name, namespace } = only('Service').metadata;
    expect(leaf.dnsNames).toEqual([`${name}.${namespace}.svc`, `${name}.${namespace}`, name]);
    expect(leaf.privateKey).toEqual({ algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' });
    const authority = named('Certificate', 'muster-ca').spec;
    expect(authority).toMatchObject({ isCA: true, duration: '87600h' });
    expect(authority.privateKey.rotationPolicy).toBe('Never');
    expect(named('Issuer', leaf.issuerRef.name).spec.ca.secretName).toBe(authority.secretName);
  });

  test('the configuration is valid', async () => {
    const text = await readFile('manifests/base/config.yaml', 'utf8');
    const { warnings } = configured(text);
    expect(warnings).toEqual([]);
  });

  test('a token of its own for an hour, two bindings, no wildcard, no Secret', () => {
    expect(ofKind('ServiceAccount').map(({ object }) => object.metadata.name)).toEqual([
      MUSTER_SERVICE_ACCOUNT,
      'muster-dashboard',
      'muster-release',
    ]);
    for (const { object } of ofKind('ServiceAccount')) {
      expect(object.metadata.namespace).toBe(MUSTER_NAMESPACE);
      expect(object.automountServiceAccountToken).toBe(false);
    }
    expect(pod().serviceAccountName).toBe(MUSTER_SERVICE_ACCOUNT);
    expect(pod().automountServiceAccountToken).toBe(false);
    expect(pod().enableServiceLinks).toBe(false);
    const access = pod().volumes.find((one: Any) => one.name === 'api-access').projected;
    expect(access.sources.map((one: Any) => Object.keys(one)[0])).toEqual([
      'serviceAccountToken',
      'configMap',
      'downwardAPI',
    ]);
    expect(access.sources[0].serviceAccountToken).toEqual({ path: 'token', expirationSeconds: 3600 });
    const mount = container().volumeMounts.find((one: Any) => one.name === 'api-access');
    expect(mount.mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
    const account = { kind: 'ServiceAccount', name: MUSTER_SERVICE_ACCOUNT, namespace: MUSTER_NAMESPACE };
    const bindings = ofKind(/Binding$/).filter(({ object }) => !object.kind.includes('AdmissionPolicy'));
    expect(bindings.map(({ object }) => [object.kind, object.roleRef.name, object.subjects])).toEqual([
      ['ClusterRoleBinding', 'muster', [account]],
      ['RoleBinding', 'muster-leader-election', [account]],
      ['ClusterRoleBinding', 'muster-coscheduling', [account]],
      ['ClusterRoleBinding', 'muster-dashboard', [{ ...account, name: 'muster-dashboard' }]],
      ['ClusterRoleBinding', 'muster-hpc', [account]],
      ['RoleBinding', 'muster-certificates', [account]],
      ['ClusterRoleBinding', 'muster-certificates', [account]],
      ...[
        'kai-scheduler',
        'preemption-past-budgets',
        'preemption-preview',
        'preemption',
        'volcano',
        'workloads',
      ].map((backend) => ['ClusterRoleBinding', `muster-${backend}`, [account]]),
      // For Karmada's API server.
      ['ClusterRoleBinding', 'muster-fleet-assigner', [account]],
      ['RoleBinding', 'muster-fleet-leader-election', [account]],
      ['ClusterRoleBinding', 'muster-fleet-queues', [account]],
      ['RoleBinding', 'muster-fleet-queues-leader-election', [account]],
      ['ClusterRoleBinding', 'muster-release', [{ ...account, name: 'muster-release' }]],
    ]);
    expect(named('Role', 'muster-release').rules).toEqual([
      {
        apiGroups: [''],
        resources: ['serviceaccounts'],
        resourceNames: ['muster-release'],
        verbs: ['impersonate'],
      },
    ]);
    for (const { object } of ofKind(/^(Cluster)?Role$/)) {
      const text = JSON.stringify(object.rules);
      expect(text).not.toContain('*');
      if (object === named('Role', 'muster-release')) continue;
      expect(text).not.toMatch(/escalate|impersonate|"bind"/);
      // The key of a gang under Flux: made, and read by nobody.
      const ofSecrets = object.rules.filter(({ resources = [] }: Any) => resources.includes('secrets'));
      const known: Record<string, unknown[]> = {
        'ClusterRole muster-hpc': [[['create'], undefined]],
        'Role muster-certificates': [[['get', 'watch', 'patch'], ['muster-certificates']]],
      };
      expect(ofSecrets.map(({ verbs, resourceNames }: Any) => [verbs, resourceNames])).toEqual(
        known[`${object.kind} ${object.metadata.name}`] ?? [],
      );
      // The condition DisruptionTarget of a victim, and the node that is meant for a Pod; the status of a binding.
      if (
        !['muster', 'muster-preemption', 'muster-fleet-assigner', 'muster-fleet-queues'].includes(
          object.metadata.name,
        )
      )
        expect(text).not.toMatch(/\/(status|finalizers)/);
    }
  });

  test('the dashboard is found by its own Service, and has the rights to list what its list shows', async () => {
    const { spec, metadata } = named('Deployment', 'muster-dashboard');
    const { labels } = spec.template.metadata;
    expect(labels['app.kubernetes.io/name']).toBe(metadata.name);
    for (const selector of [
      spec.selector.matchLabels,
      named('Service', metadata.name).spec.selector,
      named('NetworkPolicy', metadata.name).spec.podSelector.matchLabels,
    ])
      expect(selector).toEqual({ 'app.kubernetes.io/name': metadata.name });
    const own = spec.template.spec;
    const [{ args, securityContext, ports, startupProbe, volumeMounts }] = own.containers;
    expect(own.securityContext).toEqual(pod().securityContext);
    expect(securityContext).toEqual(container().securityContext);
    expect(own).toMatchObject({
      serviceAccountName: metadata.name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
    });
    const access = (volumes: Any): Any => volumes.find((one: Any) => one.name === 'api-access').projected;
    expect(access(own.volumes).sources).toEqual(access(pod().volumes).sources);
    const mounts = Object.fromEntries(volumeMounts.map((one: Any) => [one.name, one.mountPath]));
    expect(args).toEqual([
      'dashboard',
      '--in-cluster',
      `--config=${mounts.config}/config.yaml`,
      `--cert-dir=${mounts.certs}`,
      '--host=localhost:8443',
    ]);
    const { dashboardCommand } = await import('../../src/cli/dashboard/dashboard.ts');
    const help = dashboardCommand({} as Any).helpInformation();
    for (const argument of args.slice(1)) expect(help).toContain(argument.split('=')[0]);
    // It reads a request's Host before anything else, which a kubelet's probe does not have.
    expect(startupProbe.tcpSocket).toEqual({ port: 'dashboard' });
    expect(ports).toEqual([{ name: 'dashboard', containerPort: 8443 }]);
    expect(named('ClusterRole', metadata.name).rules).toEqual([
      { apiGroups: [''], resources: ['pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['scheduler.grove.io'], resources: ['podgangs'], verbs: ['list', 'watch'] },
    ]);
  });

  test('the account may do what the loop does, and nothing else', () => {
    const rights = (kind: string, name: string): string[] =>
      named(kind, name).rules.flatMap((rule: Any) =>
        rule.resources.map((resource: string) => `${resource}: ${rule.verbs.join(' ')}`),
      );
    expect(rights('ClusterRole', 'muster')).toEqual([
      'pods: list watch patch',
      'namespaces: list watch',
      'priorityclasses: list watch',
      'podgangs: get list watch patch create delete',
      'podgangs/status: patch',
      'jobs: list watch',
      'statefulsets: list watch',
      'replicasets: list watch',
      'events: create patch',
      'schedulerbackends: get list create',
      'schedulerbackends/status: patch',
      'podgangs/finalizers: update',
      'workloads: get list watch create patch delete',
      'compositepodgroups: get list watch create patch delete',
      'podgroups: get list watch create patch delete',
    ]);
    expect(rights('ClusterRole', 'muster-kai-scheduler')).toEqual([
      'podgroups: get list watch create patch delete',
      'customresourcedefinitions: get',
      'topologies: get list create patch delete',
    ]);
    expect(rights('ClusterRole', 'muster-preemption')).toEqual([
      'nodes: list',
      'persistentvolumes: list',
      'persistentvolumeclaims: list',
      'poddisruptionbudgets: list',
      'pods: get',
      'pods/eviction: create',
      'pods/status: patch',
    ]);
    expect(rights('ClusterRole', 'muster-preemption-past-budgets')).toEqual(['pods: delete']);
    expect(rights('ClusterRole', 'muster-volcano')).toEqual([
      'podgroups: get list watch create patch delete',
      'queues: get',
      'customresourcedefinitions: get',
    ]);
    expect(rights('ClusterRole', 'muster-coscheduling')).toEqual([
      'podgroups: get list watch create patch delete',
      'customresourcedefinitions: get',
    ]);
    for (const { object } of ofKind('ClusterRole')) {
      for (const { resources, resourceNames } of object.rules) {
        if (resources.includes('customresourcedefinitions')) expect(resourceNames).toHaveLength(1);
      }
    }
    expect(rights('Role', 'muster-leader-election')).toEqual(['leases: create', 'leases: get update']);
    const { configuration } = configured();
    expect(named('Role', 'muster-leader-election').rules[1].resourceNames).toEqual([
      configuration.leaderElection.resourceName,
    ]);
    expect(named('Role', 'muster-leader-election').metadata.namespace).toBe(
      configuration.leaderElection.resourceNamespace,
    );
  });

  test('lets in reviews, probes and scrapers, and out to the API server only', () => {
    const { policyTypes, ingress, egress } = only('NetworkPolicy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(egress).toEqual([
      {
        ports: [
          { port: 443, protocol: 'TCP' },
          { port: 6443, protocol: 'TCP' },
        ],
      },
    ]);
    expect(
      ingress.map((one: Any) => [one.from === undefined, one.ports.map((port: Any) => port.port)]),
    ).toEqual([
      [true, ['webhooks', 'health']],
      [false, ['metrics']],
    ]);
  });
});
