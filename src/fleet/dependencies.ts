import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { templatesOf } from '../workloads/components.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import { WorkloadReading } from '../workloads/workload-reading.ts';

/** An object that the Pods of a workload need in their cluster. */
export interface Dependency {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** Objects that exist in every namespace. */
const EVERYWHERE = ['ConfigMap kube-root-ca.crt', 'ServiceAccount default'];

/** Objects that the Pod templates of a workload reference by name, sorted; optional references are left out. */
export function dependenciesOf(object: JsonObject, kind: WorkloadKind): Dependency[] {
  const namespace = ownString(own(object, 'metadata'), 'namespace') ?? '';
  const found = new Set<string>();
  for (const { template } of templatesOf(object, kind, new WorkloadReading(object))) {
    const spec = ownObject(template, 'spec');
    if (spec !== undefined) inPod(spec, (what, name) => void (name && found.add(`${what} ${name}`)));
  }
  // Templates of claims are no dependencies: the workload's controller creates these claims in the member cluster.
  // `volumeClaimName` references an existing claim.
  for (const volume of ownList(own(object, 'spec'), 'volumes') ?? []) {
    const claim = ownString(volume, 'volumeClaimName');
    if (claim && own(volume, 'volumeClaim') === undefined) found.add(`PersistentVolumeClaim ${claim}`);
  }
  const made = new Set(
    (ownList(own(object, 'spec'), 'volumeClaimTemplates') ?? []).map(
      (claim) => `PersistentVolumeClaim ${ownString(own(claim, 'metadata'), 'name') ?? ''}`,
    ),
  );
  return [...found]
    .filter((one) => !EVERYWHERE.includes(one) && !made.has(one))
    .sort()
    .map((one) => {
      const [what = '', name = ''] = one.split(' ');
      const apiVersion =
        what === 'ResourceClaimTemplate' || what === 'ResourceClaim' ? 'resource.k8s.io/v1' : 'v1';
      return { apiVersion, kind: what, namespace, name };
    });
}

type Tell = (kind: string, name: string | undefined) => void;

function inPod(spec: JsonObject, tell: Tell): void {
  tell('ServiceAccount', ownString(spec, 'serviceAccountName') ?? ownString(spec, 'serviceAccount'));
  for (const secret of ownList(spec, 'imagePullSecrets') ?? []) tell('Secret', ownString(secret, 'name'));
  for (const claim of ownList(spec, 'resourceClaims') ?? []) {
    tell('ResourceClaim', ownString(claim, 'resourceClaimName'));
    tell('ResourceClaimTemplate', ownString(claim, 'resourceClaimTemplateName'));
  }
  for (const volume of ownList(spec, 'volumes') ?? []) inVolume(volume, tell);
  for (const list of ['initContainers', 'containers'])
    for (const container of ownList(spec, list) ?? []) inContainer(container, tell);
}

function inVolume(volume: Json, tell: Tell): void {
  const source = (key: string): JsonObject | undefined => needed(own(volume, key));
  tell('ConfigMap', ownString(source('configMap'), 'name'));
  tell('Secret', ownString(source('secret'), 'secretName'));
  tell('PersistentVolumeClaim', ownString(own(volume, 'persistentVolumeClaim'), 'claimName'));
  for (const projected of ownList(own(volume, 'projected'), 'sources') ?? []) {
    tell('ConfigMap', ownString(needed(own(projected, 'configMap')), 'name'));
    tell('Secret', ownString(needed(own(projected, 'secret')), 'name'));
  }
  // Several volume kinds reference a Secret by the same key: csi, iscsi, cephfs, flexVolume …
  for (const key of isObject(volume) ? Object.keys(volume) : []) {
    for (const reference of ['secretRef', 'nodePublishSecretRef'])
      tell('Secret', ownString(own(own(volume, key), reference), 'name'));
  }
}

function inContainer(container: Json, tell: Tell): void {
  for (const from of ownList(container, 'envFrom') ?? []) {
    tell('ConfigMap', ownString(needed(own(from, 'configMapRef')), 'name'));
    tell('Secret', ownString(needed(own(from, 'secretRef')), 'name'));
  }
  for (const variable of ownList(container, 'env') ?? []) {
    const from = own(variable, 'valueFrom');
    tell('ConfigMap', ownString(needed(own(from, 'configMapKeyRef')), 'name'));
    tell('Secret', ownString(needed(own(from, 'secretKeyRef')), 'name'));
  }
}

/** A reference that the Pod needs to start: not marked as optional. */
const needed = (reference: Json | undefined): JsonObject | undefined =>
  isObject(reference) && own(reference, 'optional') !== true ? reference : undefined;
