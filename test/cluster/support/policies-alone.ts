import { expect } from '@jest/globals';
import { MUSTER_USER } from '../../../src/api/names.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { RequestOptions } from '../control-plane/client.ts';
import { startControlPlane } from '../control-plane/start.ts';
import { until } from '../control-plane/until.ts';
import { policiesAsText } from './shipped-policies.ts';

export type Who = Pick<RequestOptions, 'as' | 'asGroups'>;

/** What an API server answers, as far as tests of policies look. */
export interface Answer {
  readonly message?: string;
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: {
    readonly schedulingGates?: readonly { name: string }[];
    readonly podgroups?: readonly { name: string; minReplicas: number; podReferences: readonly object[] }[];
  };
}

const account = (as: string, ...more: string[]): Who => ({ as, asGroups: [...more, 'system:authenticated'] });
export const ALICE = account('alice');
export const MUSTER = account(MUSTER_USER, 'system:serviceaccounts');
export const COLLECTOR = account('system:serviceaccount:kube-system:generic-garbage-collector');
export const NAMESPACES = account('system:serviceaccount:kube-system:namespace-controller');

/** Everything that a policy may be about, for everybody: what is refused here is refused by a policy. */
const GROUPS = [
  '',
  'coordination.k8s.io',
  'scheduling.k8s.io',
  'scheduling.run.ai',
  'kai.scheduler',
  'scheduling.volcano.sh',
  'scheduling.x-k8s.io',
];
/** As the role for editors has it: not the status, not the finalizers. */
const EDITED = ['podgangs'];

/**
 * An API server with the policies and no webhook: Muster at its most absent.
 * @param before what is done while there is no policy yet
 */
export async function withPolicies(
  before: (plane: ControlPlane) => Promise<unknown> = () => Promise.resolve(),
): Promise<ControlPlane> {
  const plane = await startControlPlane();
  const { client } = plane;
  const apply = async (args: readonly string[], stdin = ''): Promise<void> => {
    const flags = ['apply', '--server-side', '--validate=strict', ...args];
    const { code, stderr } = await plane.kubectl(flags, { stdin });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  };
  for (const name of ['a', 'b', 'muster-system']) {
    await client.ok('POST', '/api/v1/namespaces', { metadata: { name } });
  }
  const name = 'everybody';
  await client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name },
    rules: [
      { apiGroups: GROUPS, resources: ['*'], verbs: ['*'] },
      { apiGroups: ['scheduler.grove.io'], resources: EDITED, verbs: ['*'] },
    ],
  });
  await client.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' }],
  });
  await apply(['-k', 'manifests/crds']);
  await before(plane);
  await apply(['-f', '-'], policiesAsText());
  return plane;
}

/** Waits until a policy refuses what is tried: it takes effect some moments after it is stored. */
export const untilRefused = (
  { client }: ControlPlane,
  policy: string,
  [method, path, body, who = ALICE]: readonly [method: string, path: string, body: unknown, who?: Who],
): Promise<unknown> =>
  until(`${policy} is in force`, async () => {
    const dryRun = { ...who, query: { dryRun: 'All' } };
    const { message = 'let in' } = (await client.request<Answer>(method, path, body, dryRun)).body;
    if (message.includes(`'${policy}'`)) return true;
    throw new Error(message);
  });

/** Exactly what kubectl shows, after the API server's own preface; not the static message where there is another. */
export function refused(
  answer: { readonly status: number; readonly body: { readonly message?: string } },
  policy: string,
  text: string,
  status = 403,
): void {
  const preface = `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: `;
  const { message = '' } = answer.body;
  expect(message.slice(Math.max(0, message.indexOf(preface)))).toBe(`${preface}${text}`);
  expect(answer.status).toBe(status);
}

/** A gang as its owner makes it, with the references that Muster fills in then. @returns its path */
export async function filledGang(
  client: ControlPlane['client'],
  gang: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly labels?: object };
    readonly spec: { readonly podgroups: readonly object[] };
  },
): Promise<string> {
  const gangs = '/apis/scheduler.grove.io/v1alpha1/namespaces/a/podgangs';
  const { podgroups } = gang.spec;
  const empty = podgroups.map((group) => ({ ...group, podReferences: [] }));
  await client.ok('POST', gangs, { ...gang, spec: { ...gang.spec, podgroups: empty } });
  const path = `${gangs}/${gang.metadata.name}`;
  await client.ok('PATCH', path, { spec: { podgroups } }, MUSTER);
  return path;
}

export const podOf = (name: string, given: { metadata?: object; spec?: object } = {}) => ({
  metadata: { name, ...given.metadata },
  spec: { containers: [{ name: 'c', image: 'registry.example/c' }], ...given.spec },
});

export const refer = (...names: string[]) => names.map((name) => ({ namespace: 'a', name }));

export const gangOf = (
  name: string,
  podgroups: readonly object[] = [{ name: 'workers', minReplicas: 2, podReferences: [] }],
  metadata: object = {},
) => ({
  apiVersion: 'scheduler.grove.io/v1alpha1',
  kind: 'PodGang',
  metadata: { name, ...metadata },
  spec: { podgroups },
});
