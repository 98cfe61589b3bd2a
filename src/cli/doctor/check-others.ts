import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { quotedForShell } from './commands.ts';
import { podSpecOf } from './deployment.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import { isFresh } from './check-program.ts';
import { valueOf, type Read } from './read.ts';
import type { LeaseRecord } from '../../kube/loop/lease-record.ts';

export interface Others {
  readonly now: Date;
  /** Muster’s own, which is looked at. */
  readonly namespace: string;
  /** Every Deployment of the cluster. */
  readonly deployments: Read<readonly JsonObject[]>;
  /** Leases of the name that Muster’s has, by namespace. */
  readonly leases: Read<readonly (readonly [namespace: string, LeaseRecord])[]>;
}

const namespaceOf = (object: JsonObject): string =>
  ownString(ownObject(object, 'metadata'), 'namespace') ?? '';

/** A program that is called so and serves: by the label of the manifests and by what its container is told. */
const isMuster = (deployment: JsonObject): boolean =>
  ownString(ownObject(ownObject(deployment, 'metadata'), 'labels'), 'app.kubernetes.io/name') === 'muster' &&
  (ownList(podSpecOf(deployment), 'containers') ?? []).some((container) =>
    (ownList(container, 'args') ?? []).includes('serve'),
  );

/** Two Musters with a Lease each would both release, mark and evict. */
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
