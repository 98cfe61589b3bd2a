/** Definitions, rights and policies: what is expected is what the manifests hold, and each lack has its text. */
import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { MUSTER_USER } from '../../../../src/api/names.ts';
import { accountManifests, manifestsIn } from '../../../support/manifests.ts';
import { checkDefinitions, POD_GANG_FIELDS } from '../../../../src/cli/doctor/check-definitions.ts';
import { checkPolicies, trustingIn, type Policies } from '../../../../src/cli/doctor/check-policies.ts';
import { checkRights } from '../../../../src/cli/doctor/read-rights.ts';
import { builtInBackends } from '../../../../src/backends/registry.ts';
import {
  expectedRights,
  HPC_RULES,
  keptCertificateRules,
  preemptionRules,
  type Right,
} from '../../../../src/cli/doctor/expected-rights.ts';
import { ABSENT, found, unread } from '../../../../src/cli/doctor/diagnosis.ts';
import { told, wrong } from './told.ts';

const BLIND = 'run it as somebody who may read this, such as cluster-admin';

describe('definitions', () => {
  const APPLY = 'kubectl apply -k manifests/crds';
  interface Definition {
    metadata: { name: string };
    status: { conditions: { type: string; status: string }[] };
    spec: {
      versions: {
        name: string;
        served: boolean;
        subresources?: object;
        schema: { openAPIV3Schema: { properties: { spec: Schema; status: Schema } } };
      }[];
    };
  }
  interface Schema {
    properties: Record<string, Schema>;
    items?: Schema;
  }
  const shipped = async (
    change: (version: Definition['spec']['versions'][number], all: Definition) => void,
  ) => {
    const all = (await manifestsIn('crds')) as unknown as Definition[];
    const [podGang, backend] = ['podgangs.scheduler.grove.io', 'schedulerbackends.muster.dev'].map((name) =>
      all.find(({ metadata }) => metadata.name === name),
    ) as [Definition, Definition];
    for (const one of [podGang, backend])
      one.status = { conditions: [{ type: 'Established', status: 'True' }] };
    const [version] = podGang.spec.versions;
    if (version !== undefined) change(version, podGang);
    const read = (one: Definition) => found(one as unknown as JsonObject);
    return { podGang: read(podGang), backend: read(backend) };
  };

  test('as they ship', async () => {
    expect(told(checkDefinitions(await shipped(() => undefined)))).toEqual([
      'ok definitions/podgangs.scheduler.grove.io: v1alpha1 is served, with status and all fields',
      'ok definitions/schedulerbackends.muster.dev: v1alpha1 is served, with status and all fields',
    ]);
  });

  test('the fields are those of the manifest', async () => {
    await shipped(({ schema }) => {
      const { spec, status } = schema.openAPIV3Schema.properties;
      const names = (one: Schema | undefined): string[] => Object.keys(one?.properties ?? {}).sort();
      expect({
        spec: names(spec),
        group: names(spec.properties['podgroups']?.items),
        status: names(status),
      }).toEqual(POD_GANG_FIELDS);
    });
  });

  test.each<[string, Parameters<typeof shipped>[0], string]>([
    ['not served', (version) => void (version.served = false), 'problem PodGang does not serve v1alpha1'],
    [
      'no status',
      (version) => void delete version.subresources,
      'problem PodGang v1alpha1 has no status of its own (subresources.status)',
    ],
    [
      'fields missing',
      ({ schema }) => {
        const { spec } = schema.openAPIV3Schema.properties;
        delete spec.properties['reuseReservationRef'];
        delete spec.properties['podgroups']?.items?.properties['minReplicas'];
      },
      'problem PodGang v1alpha1 does not know spec.reuseReservationRef, spec.podgroups[].minReplicas: the API server drops it',
    ],
    [
      'an older Grove’s',
      ({ schema }) => void delete schema.openAPIV3Schema.properties.status.properties['lastReady'],
      'warning PodGang v1alpha1 does not know status.lastReady: the API server drops it',
    ],
  ])('%s', async (_what, change, expected) => {
    const [line] = wrong(checkDefinitions(await shipped(change)));
    expect(
      line?.replace('definitions/podgangs.scheduler.grove.io: podgangs.scheduler.grove.io', 'PodGang'),
    ).toBe(`${expected} → ${APPLY}`);
  });

  test('not established, absent, not readable', async () => {
    const fresh = await shipped((_version, all) => void (all.status.conditions = []));
    expect(wrong(checkDefinitions({ ...fresh, backend: ABSENT }))).toEqual([
      'problem definitions/podgangs.scheduler.grove.io: podgangs.scheduler.grove.io is not established yet → kubectl describe crd podgangs.scheduler.grove.io: its conditions say what it waits for',
      `problem definitions/schedulerbackends.muster.dev: the cluster does not know schedulerbackends.muster.dev → ${APPLY}`,
    ]);
    const [blind] = told(checkDefinitions({ podGang: unread('may not get it'), backend: ABSENT }));
    expect(blind).toBe(`not-checked definitions/podgangs.scheduler.grove.io: may not get it → ${BLIND}`);
  });
});

describe('rights', () => {
  const PLACE = { namespace: 'muster-system', name: 'muster-leader-election' };
  const all = expectedRights(PLACE, builtInBackends);
  const textOf = ({ group, resource, verb, namespace, object }: Right): string =>
    [namespace ?? '', group, resource, object ?? '', verb].join(' ');

  test('are those of base/rbac.yaml and of the components', async () => {
    interface Role {
      kind: string;
      metadata: { name: string; namespace?: string };
      rules: { apiGroups: string[]; resources: string[]; resourceNames?: string[]; verbs: string[] }[];
    }
    const roles = (await accountManifests()) as unknown as Role[];
    const shipped = roles
      .filter(({ kind, metadata }) => /Role$/.test(kind) && !metadata.name.startsWith('muster-podgang-'))
      .flatMap(({ metadata, rules }) =>
        rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
          apiGroups.flatMap((group) =>
            resources.flatMap((resource) =>
              resourceNames.flatMap((object) =>
                verbs.map((verb) => textOf({ group, resource, verb, namespace: metadata.namespace, object })),
              ),
            ),
          ),
        ),
      );
    expect(all.map(textOf).sort()).toEqual(shipped.sort());
    expect(all.length).toBeGreaterThan(40);
  });

  test('for making room are those of the components, and asked for where it is switched on', async () => {
    interface Role {
      kind: string;
      rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
    }
    const shipped = async (folder: string): Promise<object[]> =>
      ((await manifestsIn(`components/${folder}`)) as unknown as Role[])
        .filter(({ kind }) => kind === 'ClusterRole')
        .flatMap(({ rules }) =>
          rules.map(({ apiGroups, ...rule }) => ({ group: apiGroups.join(), ...rule })),
        );
    const bare = (rules: ReturnType<typeof preemptionRules>): object[] =>
      rules.map(({ group, resources, verbs }) => ({ group, resources, verbs }));
    const own = await shipped('preemption');
    const past = await shipped('preemption-past-budgets');
    const given = (mode: 'Off' | 'Act', overridePodDisruptionBudgets: boolean): object[] =>
      bare(preemptionRules({ mode, overridePodDisruptionBudgets, preview: false }));
    expect(given('Off', true)).toEqual([]);
    expect(given('Act', false)).toEqual(own);
    expect(given('Act', true)).toEqual([...own, ...past]);
    const more = expectedRights(
      PLACE,
      [],
      preemptionRules({ mode: 'Act', overridePodDisruptionBudgets: false, preview: false }),
    );
    expect(more.length - expectedRights(PLACE, []).length).toBe(7);
  });

  test('those of forecasts are the ones of their component, and asked for only where there are forecasts', async () => {
    const [role] = (await manifestsIn('components/preemption-preview')) as unknown as {
      rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
    }[];
    const off = { mode: 'Off', overridePodDisruptionBudgets: false } as const;
    const rules = preemptionRules({ ...off, preview: true });
    expect(rules.map(({ group, resources, verbs }) => ({ apiGroups: [group], resources, verbs }))).toEqual(
      role?.rules,
    );
    expect(preemptionRules({ ...off, preview: false })).toEqual([]);
  });

  test('for gangs with an HPCPolicy are those of their component', async () => {
    const [role] = (await manifestsIn('components/hpc')) as unknown as {
      rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
    }[];
    const rules = HPC_RULES.map(({ group, resources, verbs }) => ({ apiGroups: [group], resources, verbs }));
    expect(rules).toEqual(role?.rules);
  });

  test('those of certificates in the cluster are the ones of their component, by name', async () => {
    const roles = (await manifestsIn('components/in-cluster-certificates')) as unknown as {
      metadata: { namespace?: string };
      rules?: { apiGroups: string[]; resources: string[]; resourceNames: string[]; verbs: string[] }[];
    }[];
    const shipped = roles.flatMap(({ metadata: { namespace }, rules = [] }) =>
      rules.map((rule) => (namespace === undefined ? rule : { ...rule, namespace })),
    );
    const given = keptCertificateRules({ namespace: 'muster-system', secretName: 'muster-certificates' });
    expect(
      given.map(({ group, names, why, ...rule }) => {
        expect(why).not.toBe('');
        return { ...rule, apiGroups: [group], resourceNames: names };
      }),
    ).toEqual(shipped);
    const rights = expectedRights({ namespace: 'other', name: 'lease' }, [], given).filter(
      ({ resource }) => resource === 'secrets',
    );
    expect(rights.map(({ namespace, object }) => [namespace, object])).toEqual(
      rights.map(() => ['muster-system', 'muster-certificates']),
    );
  });

  test('of backends that are not enabled are not asked for', () => {
    const groups = new Set(expectedRights(PLACE, builtInBackends.slice(0, 1)).map(({ group }) => group));
    expect([groups.has('scheduling.k8s.io'), groups.has('scheduling.run.ai')]).toEqual([true, false]);
  });

  test('each has its words', () => {
    const asked = (denied: (right: Right) => boolean) =>
      told(
        checkRights({
          account: MUSTER_USER,
          asked: found(all.map((right) => ({ right, allowed: !denied(right) }))),
        }),
      );
    const FIX =
      'kubectl apply -k manifests/base; the roles for backends and settings are in manifests/components, that for workloads[] in docs/workloads.md';
    expect(asked(() => false)).toEqual([
      `ok rights/account: ${MUSTER_USER} has the ${all.length} rights that it needs`,
    ]);
    expect(asked(({ resource }) => resource === 'pods' || resource === 'leases')).toEqual([
      `problem rights/account: ${MUSTER_USER} may not list, watch, patch pods → ${FIX}`,
      `problem rights/account: ${MUSTER_USER} may not create leases.coordination.k8s.io in muster-system → ${FIX}`,
      `problem rights/account: ${MUSTER_USER} may not get, update leases.coordination.k8s.io muster-leader-election in muster-system → ${FIX}`,
    ]);
    expect(
      told(checkRights({ account: MUSTER_USER, asked: unread('may not create subjectaccessreviews') })),
    ).toEqual([
      `not-checked rights/account: what ${MUSTER_USER} may do: may not create subjectaccessreviews → run it as somebody who may create subjectaccessreviews, such as cluster-admin, or as this account`,
    ]);
    expect(told(checkRights({ account: MUSTER_USER, asked: ABSENT }))[0]).toContain(
      'may do: the API server has no SubjectAccessReview →',
    );
  });
});

describe('policies', () => {
  const APPLY = 'kubectl apply -k manifests/policies';
  const TRUSTED = [MUSTER_USER];
  interface Policy {
    kind: string;
    metadata: { name: string };
    spec: { policyName?: string; variables?: { name: string; expression: string }[] };
  }
  const shipped = async (change: (objects: Policy[]) => Policy[]): Promise<Policies> => {
    const objects = change((await manifestsIn('policies')) as unknown as Policy[]);
    const of = (kind: string) =>
      found(objects.filter((one) => one.kind === kind) as unknown as readonly JsonObject[]);
    return {
      mutating: of('MutatingAdmissionPolicy'),
      validating: of('ValidatingAdmissionPolicy'),
    };
  };
  const asThey = (objects: Policy[]): Policy[] => objects;
  const trusting = (expression: string) => (objects: Policy[]) => {
    const gate = objects.find(({ metadata }) => metadata.name === 'muster-gang-pod-gate');
    for (const variable of gate?.spec.variables ?? [])
      if (variable.name === 'trusted') variable.expression = expression;
    return objects;
  };

  const trustingPolicies = async (): Promise<readonly string[]> =>
    trustingIn((await manifestsIn('policies')) as unknown as readonly JsonObject[]);
  const judged = async (policies: Policies, trusted: readonly string[] = TRUSTED, account = MUSTER_USER) =>
    checkPolicies(policies, await trustingPolicies(), trusted, account);

  test('as they ship', async () => {
    expect(await trustingPolicies()).toContain('muster-gang-pod-gate');
    expect(told(await judged(await shipped(asThey)))).toEqual([
      'ok policies/accounts: policies and configuration trust the same account',
    ]);
  });

  test('with a longer list in each, as an overlay writes it', async () => {
    const both = [MUSTER_USER, 'x'];
    const policies = await shipped((objects) => {
      for (const { spec } of objects) {
        for (const variable of spec.variables ?? []) {
          if (variable.name === 'trusted') variable.expression = `['${both.join("', '")}']`;
        }
      }
      return objects;
    });
    expect(told(await judged(policies, both))).toContain(
      'ok policies/accounts: policies and configuration trust the same 2 accounts',
    );
  });

  test.each<[string, (objects: Policy[]) => Policy[], string[]]>([
    [
      'other accounts',
      trusting("['x']"),
      [
        `problem policies/accounts: muster-gang-pod-gate refuses ${MUSTER_USER}, which the configuration trusts → add ${MUSTER_USER} to the variable "trusted" of muster-gang-pod-gate, then ${APPLY}`,
        'warning policies/accounts: muster-gang-pod-gate trusts x, which the configuration does not → add x to trustedAccounts, or take it out of muster-gang-pod-gate',
      ],
    ],
    [
      'another form',
      trusting('params.accounts'),
      [
        `not-checked policies/accounts: muster-gang-pod-gate has no variable "trusted" of the usual form → ${APPLY}`,
      ],
    ],
  ])('%s', async (_what, change, expected) => {
    expect(wrong(await judged(await shipped(change)))).toEqual(expected);
  });

  test('Muster not trusted by its own configuration', async () => {
    const account = 'system:serviceaccount:gangs:muster';
    expect(wrong(await judged(await shipped(asThey), TRUSTED, account))).toEqual([
      `problem policies/accounts: the configuration does not trust ${account}: Muster refuses what its own loop writes → add ${account} to trustedAccounts of the configuration`,
    ]);
  });

  test('kinds that the cluster does not serve, or does not show', async () => {
    const policies = await shipped(asThey);
    expect(wrong(await judged({ ...policies, mutating: ABSENT }))).toEqual([
      'warning policies/mutating: the cluster serves no MutatingAdmissionPolicy v1: while Muster is down gang Pods are refused, not gated → nothing before Kubernetes 1.36, where kubectl apply -k manifests/policies adds it',
    ]);
    const none = { mutating: unread('may not list them'), validating: ABSENT };
    expect(wrong(await judged(none))).toEqual([
      'warning policies/validating: the cluster serves no ValidatingAdmissionPolicy v1 → upgrade to Kubernetes 1.30 or later',
    ]);
  });
});
