import { MUSTER_GROUP, POD_GANG_GROUP } from '../../api/names.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import { NAMESPACES, PODS } from '../../kube/client/resources.ts';
import { findWaiting } from './waiting.ts';
import { hasMustersName, isMusters, isMustersPod, listedObjects, type Where } from './read.ts';
import * as kinds from './resources.ts';
import { deletions, type StepWork } from './write.ts';

export const STEP_NAMES = ['refusals', 'admission', 'loop', 'gates', 'objects', 'definitions'] as const;

export interface UninstallStep {
  readonly name: (typeof STEP_NAMES)[number];
  readonly why: string;
  /** How to go on after the writes: at once; once all API servers have seen them; once the objects are gone. */
  readonly then: 'go on' | 'settle' | 'wait';
  /** Reads the cluster, so that a step that was interrupted does what is left of it. */
  find(where: Where): Promise<StepWork>;
}

/**
 * The steps of an uninstallation. Nothing is refused between two of them: what refuses goes before what adds the gate that it
 * demands, both before the program that answers, and gates come off when nothing adds them any more.
 */
export const STEPS: readonly UninstallStep[] = [
  {
    name: 'refusals',
    why: 'first nothing is refused for want of a gate or a field: the next step ends what adds them',
    then: 'settle',
    find: (where) => ofKinds(where, kinds.REFUSING),
  },
  {
    name: 'admission',
    why: 'no Pod is prepared or gated any more, and no API server asks Muster: a Pod created now is an ordinary one',
    then: 'settle',
    find: (where) => ofKinds(where, kinds.CHANGING),
  },
  {
    name: 'loop',
    why: 'nobody asks the program any more; until here it released every gang that was complete',
    then: 'wait',
    find: async (where) =>
      deletions(kinds.DEPLOYMENTS, await inNamespace(where, kinds.DEPLOYMENTS), where.namespace),
  },
  {
    name: 'gates',
    why: 'Pods of incomplete gangs wait for a release that no longer comes, so they get it; finalizers of Muster come off PodGangs',
    then: 'go on',
    find: findWaiting,
  },
  {
    name: 'objects',
    why: 'rights, configuration, certificates and the namespace: nothing uses them any more',
    then: 'wait',
    find: findObjects,
  },
  {
    name: 'definitions',
    why: 'with the definitions go all stored PodGangs, HPCPolicies and SchedulerBackends, and the schedulers’ objects of these gangs',
    then: 'wait',
    find: findDefinitions,
  },
];

async function ofKinds(where: Where, resources: readonly Resource[]): Promise<StepWork> {
  const found = await Promise.all(
    resources.map(async (resource) =>
      deletions(resource, (await listedObjects(where, resource)).filter(isMusters)),
    ),
  );
  return { writes: found.flatMap(({ writes }) => writes), stays: [] };
}

/** Secrets that Muster, cert-manager or a person makes, without the labels of the installation. */
const UNLABELLED_SECRETS: readonly string[] = ['muster-certificates', 'muster-serving-cert', 'muster-ca'];

async function inNamespace(
  where: Where,
  resource: Resource,
  releases: ReadonlySet<string> = new Set(),
): Promise<readonly KubeObject[]> {
  const { namespace } = where;
  const objects = await listedObjects(where, resource, { namespace });
  return objects.filter((object) => {
    const { name, labels = {} } = object.metadata;
    if (isMusters(object)) return true;
    if (resource.kind === 'Lease') return hasMustersName(name);
    if (resource.kind !== 'Secret') return false;
    return (
      UNLABELLED_SECRETS.includes(name) || (labels['owner'] === 'helm' && releases.has(labels['name'] ?? ''))
    );
  });
}

async function findObjects(where: Where): Promise<StepWork> {
  const { namespace } = where;
  const rights = await Promise.all(
    kinds.CLUSTER_RIGHTS.map(async (resource) => {
      const objects = (await listedObjects(where, resource)).filter(isMusters);
      return { objects, ...deletions(resource, objects) };
    }),
  );
  const wide = rights.flatMap(({ writes }) => writes);
  const fieldSelector = `metadata.name=${namespace}`;
  const [own] = await listedObjects(where, NAMESPACES, { fieldSelector });
  if (own === undefined) return { writes: wide, stays: [] };
  const others = (await listedObjects(where, PODS, { namespace })).filter((pod) => !isMustersPod(pod));
  const reason = !isMusters(own)
    ? 'Muster’s manifests did not make it'
    : others.length > 0
      ? `${others.length} Pods in it are not Muster’s`
      : undefined;
  if (reason === undefined) return { writes: [...wide, ...deletions(NAMESPACES, [own]).writes], stays: [] };
  const releases = releasesOf(
    rights.flatMap(({ objects }) => objects),
    namespace,
  );
  const inside = await Promise.all(
    kinds.IN_NAMESPACE.map(async (resource) =>
      deletions(resource, await inNamespace(where, resource, releases), namespace),
    ),
  );
  return {
    writes: [...inside.flatMap(({ writes }) => writes), ...wide],
    stays: [`namespace ${namespace}: ${reason}`],
  };
}

/** Names of the Helm releases that made these objects: Helm keeps its record of a release in Secrets. */
const releasesOf = (objects: readonly KubeObject[], namespace: string): ReadonlySet<string> =>
  new Set(
    objects.flatMap(({ metadata: { annotations = {} } }) =>
      annotations['meta.helm.sh/release-namespace'] === namespace
        ? (annotations['meta.helm.sh/release-name'] ?? [])
        : [],
    ),
  );

/** A definition that the Grove operator needs, too, is left to it; it is there where this one is. */
const GROVES_OWN = 'podcliquesets.grove.io';
const POD_GANGS = `podgangs.${POD_GANG_GROUP}`;

async function mustersDefinitions(where: Where) {
  const all = await listedObjects(where, kinds.DEFINITIONS);
  const grove = all.some(({ metadata }) => metadata.name === GROVES_OWN);
  const musters = all.filter(
    ({ metadata: { name } }) => name.endsWith(`.${MUSTER_GROUP}`) || (name === POD_GANGS && !grove),
  );
  return { musters, grove };
}

async function findDefinitions(where: Where): Promise<StepWork> {
  const { musters, grove } = await mustersDefinitions(where);
  return {
    ...deletions(kinds.DEFINITIONS, musters),
    stays: grove ? [`definition ${POD_GANGS}: the Grove operator needs it`] : [],
  };
}

/** Names the definitions that stay and how many objects of each are stored. */
export async function keptDefinitions(where: Where): Promise<readonly string[]> {
  const { musters } = await mustersDefinitions(where);
  return Promise.all(
    musters.map(async ({ metadata: { name }, spec }) => {
      const resource = storedResource(spec as StoredDefinition);
      const count = (await listedObjects(where, resource)).length;
      return `definition ${name} with ${count} of its objects (${groupVersionString(resource)}): --definitions deletes both`;
    }),
  );
}

interface StoredDefinition {
  readonly group: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly scope: string;
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

const storedResource = ({ group, names, scope, versions }: StoredDefinition): Resource => ({
  ...{ group, ...names, namespaced: scope === 'Namespaced' },
  version: versions.find(({ served }) => served)?.name ?? '',
});
