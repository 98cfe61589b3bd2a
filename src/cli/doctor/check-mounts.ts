import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import {
  patchCommand,
  quotedForShell,
  saying,
  RIGHTS_FIX,
  valueOf,
  type Diagnosis,
  type Read,
} from './diagnosis.ts';
import { podSpecOf } from './program-objects.ts';
import { objectName } from '../../k8s/resource.ts';
import { isFresh } from './check-program.ts';
import type { LeaseRecord } from '../../kube/loop/lease-record.ts';

/** A Secret or ConfigMap without which the Pods of Muster do not start. */
export interface Needed {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly name: string;
  /** Keys that the object has to have. */
  readonly keys: readonly string[];
  /** The volume that mounts the object; undefined where an environment variable reads it. */
  readonly volume: string | undefined;
}

/** Kubernetes makes this ConfigMap in every namespace. */
const ROOT_CA = 'kube-root-ca.crt';
/** Files that `--cert-dir` has to hold. */
const CERTIFICATE_KEYS = ['tls.crt', 'tls.key'];

/** The Secrets and ConfigMaps that the Deployment's Pod template names and that are not optional. */
export function neededBy(deployment: JsonObject | undefined): readonly Needed[] {
  const pod = podSpecOf(deployment);
  const volumes = (ownList(pod, 'volumes') ?? []).flatMap((volume): Needed[] => {
    const name = ownString(volume, 'name');
    const keys = (source: Json | undefined): string[] => [
      ...(ownList(source ?? null, 'items') ?? []).flatMap((item) => ownString(item, 'key') ?? []),
      ...(name === 'certs' ? CERTIFICATE_KEYS : []),
    ];
    const parts = [volume, ...(ownList(own(volume, 'projected'), 'sources') ?? [])];
    return parts.flatMap((part) => [
      ...needed('Secret', own(part, 'secret'), part === volume ? 'secretName' : 'name', name, keys),
      ...needed('ConfigMap', own(part, 'configMap'), 'name', name, keys),
    ]);
  });
  const environment = (ownList(pod, 'containers') ?? []).flatMap((container) =>
    (ownList(container, 'env') ?? []).flatMap((one): Needed[] => {
      const from = own(one, 'valueFrom');
      const keys = (source: Json | undefined): string[] => [ownString(source, 'key') ?? ''];
      return [
        ...needed('Secret', own(from, 'secretKeyRef'), 'name', undefined, keys),
        ...needed('ConfigMap', own(from, 'configMapKeyRef'), 'name', undefined, keys),
      ];
    }),
  );
  return [...volumes, ...environment].filter(({ name }) => name !== ROOT_CA);
}

function needed(
  kind: Needed['kind'],
  source: Json | undefined,
  field: 'name' | 'secretName',
  volume: string | undefined,
  keys: (source: Json | undefined) => string[],
): Needed[] {
  const name = ownString(source, field);
  if (name === undefined || own(source, 'optional') === true) return [];
  return [{ kind, name, keys: keys(source), volume }];
}

export interface Mounts {
  readonly namespace: string;
  readonly deployment: JsonObject;
  readonly needed: readonly (readonly [Needed, Read<JsonObject>])[];
  /** The certificate Secret of Muster's manifests, in case the Deployment mounts another one. */
  readonly usual: Read<JsonObject>;
  /** Name of that Secret. */
  readonly usualName: string;
}

/** Reports whether a new Pod of Muster would find what it mounts. Pods that run already do not notice. */
export function checkMounts({
  namespace,
  deployment,
  needed: wanted,
  usual,
  usualName,
}: Mounts): Diagnosis[] {
  const findings = wanted.flatMap(([one, read]): Diagnosis[] => {
    const { kind, name, keys, volume } = one;
    const certificate = volume === 'certs';
    const say = certificate ? saying('certificate', 'secret') : saying('program', 'mounts');
    const what = `the Deployment needs the ${kind} ${namespace}/${name}`;
    if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
    if (read.state === 'absent') {
      const found = `${what}, which is not there: a Pod that starts now waits for it`;
      if (!certificate) return [say.problem(found, `make it, or take it out of the Deployment`)];
      if (name === usualName || valueOf(usual) === undefined) {
        const fix =
          'with cert-manager: `kubectl -n NAMESPACE describe certificate`; without: make one as in docs/manifests.md, Certificates';
        return [say.problem(found, fix.replace('NAMESPACE', namespace))];
      }
      const command = patchCommand(deployment, mounting(deployment, usualName));
      const fix = `${usualName} is there: mount that one, or give this one its name`;
      return [{ ...say.problem(found, fix), commands: [command] }];
    }
    const there = { ...ownObject(read.value, 'data'), ...ownObject(read.value, 'binaryData') };
    const lacking = keys.filter((key) => !Object.hasOwn(there, key));
    if (lacking.length === 0) return [];
    const found = `${what}, which has no ${lacking.join(', ')}: a Pod that starts now waits for it`;
    return [say.problem(found, `put ${lacking.join(', ')} into ${kind} ${namespace}/${name}`)];
  });
  if (findings.length > 0 || wanted.length === 0) return findings;
  const names = [...new Set(wanted.map(([{ kind, name }]) => `${kind} ${name}`))].join(', ');
  return [saying('program', 'mounts').ok(`what its Pods mount is there: ${names}`)];
}

function mounting(deployment: JsonObject, secretName: string) {
  const volumes = ownList(podSpecOf(deployment), 'volumes') ?? [];
  const place = volumes.findIndex((volume) => ownString(volume, 'name') === 'certs');
  const path = `/spec/template/spec/volumes/${place}`;
  return [
    { op: 'test' as const, path: `${path}/name`, value: 'certs' },
    { op: 'replace' as const, path: `${path}/secret/secretName`, value: secretName },
  ];
}

export interface Others {
  readonly now: Date;
  /** The namespace of the Muster that is examined. */
  readonly namespace: string;
  /** Every Deployment of the cluster. */
  readonly deployments: Read<readonly JsonObject[]>;
  /** Leases with the name of Muster's own Lease, by namespace. */
  readonly leases: Read<readonly (readonly [namespace: string, LeaseRecord])[]>;
}

const namespaceOf = (object: JsonObject): string =>
  ownString(ownObject(object, 'metadata'), 'namespace') ?? '';

/** Whether a Deployment runs `muster serve`, by the label of Muster's manifests and the arguments of its containers. */
const isMuster = (deployment: JsonObject): boolean =>
  ownString(ownObject(ownObject(deployment, 'metadata'), 'labels'), 'app.kubernetes.io/name') === 'muster' &&
  (ownList(podSpecOf(deployment), 'containers') ?? []).some((container) =>
    (ownList(container, 'args') ?? []).includes('serve'),
  );

/** Reports other installations of Muster: two with a Lease each would both release Pods, write conditions and evict. */
export function checkOthers({ now, namespace, deployments, leases }: Others): Diagnosis[] {
  const say = saying('program', 'alone');
  const others = (valueOf(deployments) ?? []).filter(
    (one) =>
      isMuster(one) &&
      own(ownObject(one, 'spec'), 'replicas') !== 0 &&
      !(namespaceOf(one) === namespace && objectName(one) === 'muster'),
  );
  const found = others.map((one): Diagnosis => {
    const [place, name] = [namespaceOf(one), objectName(one)];
    const what = `another Muster is installed, Deployment ${place}/${name}: each runs a loop of its own, and both evict for the same gang`;
    return {
      ...say.problem(what, 'keep one: take the other’s webhooks and policies away, and its replicas'),
      commands: [`kubectl -n ${quotedForShell(place)} scale deployment/${quotedForShell(name)} --replicas=0`],
    };
  });
  const told = new Set(others.map(namespaceOf));
  const leading = (valueOf(leases) ?? []).filter(
    ([place, lease]) => place !== namespace && !told.has(place) && lease.holder !== '' && isFresh(lease, now),
  );
  return [
    ...found,
    ...leading.map(([place, { holder }]) =>
      say.problem(
        `another Muster leads in ${place} (${holder} holds its Lease): both evict for the same gang`,
        'keep one: end the other, wherever it runs',
      ),
    ),
  ];
}
