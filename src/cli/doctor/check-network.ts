import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { applyCommand, saying, RIGHTS_FIX, valueOf, type Diagnosis, type Read } from './diagnosis.ts';
import { podSpecOf, componentOf } from './program-objects.ts';

/** NetworkPolicies are additive: no policy denies what another one allows, and a Pod that none selects is open. */
export interface Network {
  readonly deployment: JsonObject;
  /** Every NetworkPolicy of Muster’s namespace. */
  readonly policies: Read<readonly JsonObject[]>;
  /** The NetworkPolicy of Muster's manifests. */
  readonly shipped: JsonObject | undefined;
}

type Direction = 'Ingress' | 'Egress';

/** Container ports by name, with the clients that have to reach each. */
const PORTS_IN: readonly (readonly [name: string, who: string])[] = [
  ['webhooks', 'API servers do not reach Muster, and gangs cannot be created'],
  [
    'health',
    'kubelets do not reach its probes, where the network holds them to it: its Pods never get ready',
  ],
];
/** Usual ports of API servers. */
const PORTS_OUT = [443, 6443];

export function checkNetwork({ deployment, policies, shipped }: Network): Diagnosis[] {
  const say = saying('program', 'network');
  if (policies.state === 'unread') return [say.notChecked(policies.reason, RIGHTS_FIX)];
  if (policies.state === 'absent') return [];
  const ours = policies.value.filter((policy) => selects(policy, deployment));
  const commands = shipped === undefined ? {} : { commands: [applyCommand(shipped)] };
  const fix = 'let it through: apply the NetworkPolicy of this version, `muster doctor --fix` prints it';
  const ports = portsOf(deployment);
  const findings: Diagnosis[] = [];
  for (const [name, who] of PORTS_IN) {
    const rules = rulesFor(ours, 'Ingress', [name, ports.get(name) ?? 0]);
    if (rules === undefined || rules.some((rule) => fromHosts(rule, 'from'))) continue;
    const found =
      rules.length === 0
        ? `no NetworkPolicy lets anybody in to port ${name}: ${who}`
        : `only Pods are let in to port ${name}, and API servers and kubelets mostly call from hosts`;
    const told = rules.length === 0 ? say.problem(found, fix) : say.warning(found, fix);
    findings.push({ ...told, ...commands });
  }
  const out = PORTS_OUT.map((port) => rulesFor(ours, 'Egress', [port]));
  if (out.every((rules) => rules?.length === 0)) {
    const found = `no NetworkPolicy lets Muster out to port ${PORTS_OUT.join(' or ')}: it does not reach the API server, and no gang moves`;
    findings.push({ ...say.problem(found, fix), ...commands });
  }
  if (findings.length > 0) return findings;
  const names = ours.map(objectName).join(', ');
  return [
    say.ok(
      ours.length === 0 ? 'no NetworkPolicy is about Muster’s Pods' : `${names} lets through what has to`,
    ),
  ];
}

/** Whether a NetworkPolicy selects Muster’s Pods. */
function selects(policy: JsonObject, deployment: JsonObject): boolean {
  const template = ownObject(ownObject(ownObject(deployment, 'spec'), 'template'), 'metadata');
  const labels = ownObject(template, 'labels');
  const selector = ownObject(ownObject(policy, 'spec'), 'podSelector');
  const value = (key: string): string | undefined => ownString(labels, key);
  const exact = Object.entries(ownObject(selector, 'matchLabels') ?? {});
  return (
    exact.every(([key, wanted]) => value(key) === wanted) &&
    (ownList(selector, 'matchExpressions') ?? []).every((one) => {
      const found = value(ownString(one, 'key') ?? '');
      const values = ownList(one, 'values') ?? [];
      switch (ownString(one, 'operator') ?? 'Exists') {
        case 'In':
          return found !== undefined && values.includes(found);
        case 'NotIn':
          return found === undefined || !values.includes(found);
        case 'Exists':
          return found !== undefined;
        default:
          return found === undefined;
      }
    })
  );
}

/** The rules that allow a port by one of these names or numbers; undefined where no policy restricts that direction. */
function rulesFor(
  policies: readonly JsonObject[],
  direction: Direction,
  port: readonly (string | number)[],
): readonly Json[] | undefined {
  const bound = policies.filter((policy) =>
    (ownList(ownObject(policy, 'spec'), 'policyTypes') ?? ['Ingress']).includes(direction),
  );
  if (bound.length === 0) return undefined;
  const key = direction === 'Ingress' ? 'ingress' : 'egress';
  return bound
    .flatMap((policy) => ownList(ownObject(policy, 'spec'), key) ?? [])
    .filter((rule) => {
      const allowed = ownList(rule, 'ports') ?? [];
      return allowed.length === 0 || allowed.some((one) => isPort(one, port));
    });
}

function isPort(allowed: Json, port: readonly (string | number)[]): boolean {
  if ((ownString(allowed, 'protocol') ?? 'TCP') !== 'TCP') return false;
  const [first, last] = [own(allowed, 'port'), own(allowed, 'endPort')];
  if (first === undefined) return true;
  return port.some((one) =>
    typeof last === 'number' && typeof first === 'number' && typeof one === 'number'
      ? first <= one && one <= last
      : first === one,
  );
}

/** Whether a rule covers IP addresses: it has no peers, or one with an ipBlock. */
function fromHosts(rule: Json, key: 'from' | 'to'): boolean {
  const peers = ownList(rule, key) ?? [];
  return peers.length === 0 || peers.some((peer) => own(peer, 'ipBlock') !== undefined);
}

const portsOf = (deployment: JsonObject): ReadonlyMap<string, number> =>
  new Map(
    (ownList(podSpecOf(deployment), 'containers') ?? []).flatMap((container) =>
      (ownList(container, 'ports') ?? []).flatMap((one): [string, number][] => {
        const [name, port] = [ownString(one, 'name'), own(one, 'containerPort')];
        return name === undefined || typeof port !== 'number' ? [] : [[name, port]];
      }),
    ),
  );

export interface Callers {
  /** Whether Muster demands a client certificate of its callers. */
  readonly asked: boolean;
  /** Pods of the control plane, by the label that kubeadm gives its static Pods. */
  readonly pods: Read<readonly JsonObject[]>;
}

/**
 * Reports that whoever reaches Muster's port may send it reviews, where Muster demands no client certificate of the API
 * server. Only those who run their API server can give it one, so nothing is reported where the control plane is not
 * visible.
 */
export function checkCallers({ asked, pods }: Callers): Diagnosis[] {
  const server = (valueOf(pods) ?? []).find((pod) => componentOf(pod) === 'kube-apiserver');
  if (server === undefined) return [];
  const say = saying('program', 'callers');
  if (asked) return [say.ok('reviews are taken from the API server alone, by its client certificate')];
  return [
    say.warning(
      `Muster asks nobody for a client certificate, so that whoever reaches its port may send it reviews, and this cluster could have it do so: its API server runs as Pod ${objectName(server)}`,
      'add manifests/components/client-certificate, and give the API server its certificate as docs/certificates.md has it',
    ),
  ];
}
