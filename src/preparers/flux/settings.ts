import { isDnsLabel, isDnsSubdomain, isLabelKey, isLabelValue } from '../../k8s/name-syntax.ts';
import { countOfText } from '../../k8s/quantity.ts';

/** A requirement of node affinity: the label `key` has one of `values`, or exists when `values` is empty. */
export interface RequiredNodeLabel {
  readonly key: string;
  readonly values: readonly string[];
}

/** `spec.hpc.settings` of an HPCPolicy for the manager flux, parsed, with defaults. */
export interface FluxSettings {
  readonly viewImage: string;
  readonly networkDevice: string;
  readonly queuePolicy: 'fcfs' | 'easy';
  readonly tasksPerNode: number;
  readonly interactive: boolean;
  /** A Quantity; undefined: no limit for this volume. */
  readonly shmSize: string | undefined;
  readonly network: 'device' | 'rdma';
  /** Brokers that have to be connected before the program starts; undefined: the gang's minimum. */
  readonly quorum: number | undefined;
  readonly clusterDomain: string;
  /** Group whose first Pod is the lead; undefined: the gang's first group. */
  readonly leadGroup: string | undefined;
  /** Container whose command runs under Flux; undefined: the Pod's only one. */
  readonly runnerContainer: string | undefined;
  /** All requirements have to hold. */
  readonly nodeAffinity: readonly RequiredNodeLabel[];
  readonly onePodPerNode: 'preferred' | 'required' | 'none';
}

/** A row of the table of settings. */
export interface SettingRow<T = unknown> {
  /** Field of FluxSettings that gets the value. */
  readonly field: keyof FluxSettings;
  /** Form of a valid value, in words that follow "must be". */
  readonly form: string;
  /** Default as text; undefined: described in `meaning`. */
  readonly byDefault: string | undefined;
  readonly meaning: string;
  /** Parses the text; undefined when the text does not have the form. */
  readonly read: (text: string) => T | undefined;
  /** Variable of the runner container that overrides the setting. */
  readonly environment?: string;
}

const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T | undefined =>
    values.find((value) => value === text);

const countTo =
  (most: number) =>
  (text: string): number | undefined =>
    /^[1-9][0-9]{0,5}$/.test(text) && Number(text) <= most ? Number(text) : undefined;

const matching =
  (pattern: RegExp, most: number) =>
  (text: string): string | undefined =>
    text.length <= most && pattern.test(text) ? text : undefined;

const nameBy =
  (isName: (text: string) => boolean) =>
  (text: string): string | undefined =>
    isName(text) ? text : undefined;

const APART = {
  preferred: 'preferred',
  true: 'preferred',
  required: 'required',
  none: 'none',
  false: 'none',
};

function nodeTerms(text: string): RequiredNodeLabel[] | undefined {
  const terms = text.split(',').map((term): RequiredNodeLabel | undefined => {
    const [key = '', values, ...more] = term.trim().split('=');
    const list = values?.split('|') ?? [];
    return isLabelKey(key) && more.length === 0 && list.every(isLabelValue)
      ? { key, values: list }
      : undefined;
  });
  const keys = new Set(terms.map((term) => term?.key));
  return terms.length <= 16 && keys.size === terms.length && terms.every((term) => term !== undefined)
    ? terms
    : undefined;
}

function shmSize(text: string): string | undefined {
  const bytes = countOfText('memory', text);
  return bytes !== undefined && bytes > 0 && text.length <= 32 ? text : undefined;
}

/** All settings of the manager flux by name; docs/hpc.md has the same table, and a test compares the two. */
export const fluxSettingRows: Readonly<Record<string, SettingRow>> = {
  'flux-view-image': {
    field: 'viewImage',
    form: 'the name of an image, without blanks',
    byDefault: 'ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy',
    meaning:
      'The image that Flux is copied from. Architecture and C library must suit the image of the program.',
    read: matching(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, 512),
    environment: 'FLUX_VIEW_IMAGE',
  },
  'flux-network-device': {
    field: 'networkDevice',
    form: 'the name of a network device: at most 15 letters, digits, "_", ".", ":" or "-"',
    byDefault: 'eth0',
    meaning: 'The network device on which the brokers listen.',
    read: matching(/^[A-Za-z0-9_.:-]+$/, 15),
    environment: 'FLUX_NETWORK_DEVICE',
  },
  'flux-queue-policy': {
    field: 'queuePolicy',
    form: 'fcfs or easy',
    byDefault: 'fcfs',
    meaning: 'How Flux orders jobs inside of the gang: as they come, or with backfilling.',
    read: oneOf('fcfs', 'easy'),
    environment: 'FLUX_QUEUE_POLICY',
  },
  'tasks-per-node': {
    field: 'tasksPerNode',
    form: 'a whole number from 1 to 1024',
    byDefault: '1',
    meaning:
      'Tasks of the program on each Pod, a core each. The GPUs of a Pod are shared out evenly among them.',
    read: countTo(1024),
  },
  interactive: {
    field: 'interactive',
    form: 'true or false',
    byDefault: 'false',
    meaning: 'Whether the lead starts a broker and waits for people, instead of running a command.',
    read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  'shm-size': {
    field: 'shmSize',
    form: 'an amount of memory above 0 and below 8Pi, such as 8Gi',
    byDefault: undefined,
    meaning:
      'The most that /dev/shm may hold. Left out: as much as the memory limit of the container allows.',
    read: shmSize,
  },
  network: {
    field: 'network',
    form: 'device or rdma',
    byDefault: 'device',
    meaning:
      'What the program talks over. With rdma its container has to ask for an RDMA device; Flux itself stays on the network device.',
    read: oneOf('device', 'rdma'),
  },
  quorum: {
    field: 'quorum',
    form: 'a whole number from 1 to 65536',
    byDefault: undefined,
    meaning:
      'How many brokers have to be there before the program starts. Left out: the minimum of the gang.',
    read: countTo(65_536),
  },
  'cluster-domain': {
    field: 'clusterDomain',
    form: 'a lower-case DNS name',
    byDefault: 'cluster.local',
    meaning: 'The DNS domain of the cluster.',
    read: nameBy(isDnsSubdomain),
  },
  'lead-group': {
    field: 'leadGroup',
    form: 'the name of a group of the gang',
    byDefault: undefined,
    meaning: 'The group whose first Pod leads. Left out: the first group.',
    read: nameBy(isLabelValue),
  },
  'runner-container': {
    field: 'runnerContainer',
    form: 'the name of a container',
    byDefault: undefined,
    meaning: 'The container whose command is run under Flux. Left out: the only one.',
    read: nameBy(isDnsLabel),
  },
  'node-affinity': {
    field: 'nodeAffinity',
    form: 'at most 16 different node labels, joined by commas: key=value, key=one|other, or key alone',
    byDefault: undefined,
    meaning: 'Labels that a node must have. Left out: any node.',
    read: nodeTerms,
  },
  'one-pod-per-node': {
    field: 'onePodPerNode',
    form: 'preferred, required or none (true is preferred, false is none)',
    byDefault: 'preferred',
    meaning:
      'Whether the Pods of the gang keep away from each other, so that Flux has the whole node to map.',
    read: (text) => (Object.hasOwn(APART, text) ? APART[text as keyof typeof APART] : undefined),
  },
};

/** Values of settings that a policy does not set. */
export const fluxDefaults: FluxSettings = {
  ...(Object.fromEntries(
    Object.values(fluxSettingRows).map(({ field, byDefault, read }) => [
      field,
      byDefault === undefined ? undefined : read(byDefault),
    ]),
  ) as unknown as FluxSettings),
  // The table's default for lists is no text, which means an empty list.
  nodeAffinity: [],
};
