import { NAMESPACES, POD_GANGS, PODS, PRIORITY_CLASSES, type Resource } from './resources.ts';

const core = (plural: string, kind: string, namespaced: boolean): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
});

const SCHEDULING = 'scheduling.k8s.io';

/** What a plan goes by. Of native PodGroups the newest version that is served. */
export const SNAPSHOT_RESOURCES: readonly (readonly Resource[])[] = [
  [core('nodes', 'Node', false)],
  [PODS],
  [NAMESPACES],
  [core('persistentvolumes', 'PersistentVolume', false)],
  [core('persistentvolumeclaims', 'PersistentVolumeClaim', true)],
  [
    {
      group: 'policy',
      version: 'v1',
      plural: 'poddisruptionbudgets',
      kind: 'PodDisruptionBudget',
      namespaced: true,
    },
  ],
  [PRIORITY_CLASSES],
  [POD_GANGS],
  ['v1', 'v1beta1', 'v1alpha3', 'v1alpha2'].map((version) => ({
    group: SCHEDULING,
    version,
    plural: 'podgroups',
    kind: 'PodGroup',
    namespaced: true,
  })),
];

/** Rights that it takes, for messages and pages: `poddisruptionbudgets.policy`. */
export const SNAPSHOT_RIGHTS: readonly string[] = SNAPSHOT_RESOURCES.map(([first]) =>
  first === undefined ? '' : first.group === '' ? first.plural : `${first.plural}.${first.group}`,
);
