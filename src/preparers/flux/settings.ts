import { isDnsLabel, isDnsSubdomain, isLabelValue } from '../../k8s/name-syntax.ts';
import {
  apart,
  countTo,
  nameBy,
  nodeTerms,
  oneOf,
  shmSize,
  textLike,
  truth,
  type PodsApart,
  type RequiredNodeLabel,
} from './setting-forms.ts';

/** `spec.hpc.settings` of an HPCPolicy for the manager flux, parsed, with defaults. */
export interface FluxSettings {
  readonly viewImage: string;
  readonly networkDevice: string;
  readonly queuePolicy: 'fcfs' | 'easy';
  /** Tasks on each Pod: a number, or one for each of its cores or GPUs. */
  readonly tasksPerNode: number | 'cpu' | 'gpu';
  readonly coresPerTask: number | undefined;
  readonly gpusPerTask: number | undefined;
  /** Whether the program has the whole of each of its Pods. */
  readonly exclusive: boolean;
  /** `auto`: `per-task` where the container has its cores for itself, else `off`. */
  readonly cpuAffinity: 'auto' | 'per-task' | 'on' | 'off';
  readonly gpuAffinity: 'per-task' | 'on' | 'off';
  readonly pmi: 'simple' | 'pmix';
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
  readonly onePodPerNode: PodsApart;
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

/** All settings of the manager flux by name; docs/hpc.md has the same table, and a test compares the two. */
export const fluxSettingRows: Readonly<Record<string, SettingRow>> = {
  'flux-view-image': {
    field: 'viewImage',
    form: 'the name of an image, without blanks',
    byDefault: 'ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy',
    meaning:
      'The image that Flux is copied from. Architecture and C library must suit the image of the program.',
    read: textLike(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, 512),
    environment: 'FLUX_VIEW_IMAGE',
  },
  'flux-network-device': {
    field: 'networkDevice',
    form: 'the name of a network device: at most 15 letters, digits, "_", ".", ":" or "-"',
    byDefault: 'eth0',
    meaning: 'The network device on which the brokers listen.',
    read: textLike(/^[A-Za-z0-9_.:-]+$/, 15),
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
    form: 'a whole number from 1 to 1024, cpu or gpu',
    byDefault: '1',
    meaning:
      'Tasks (MPI ranks) on each Pod, among which its cores and GPUs are shared out evenly. cpu: one a core; gpu: one a GPU.',
    read: (text) => oneOf('cpu', 'gpu')(text) ?? countTo(1024)(text),
  },
  'cores-per-task': {
    field: 'coresPerTask',
    form: 'a whole number from 1 to 1024',
    byDefault: undefined,
    meaning:
      'Cores of a task, which is told by OMP_NUM_THREADS where the Pod does not set that. Left out: an even share.',
    read: countTo(1024),
  },
  'gpus-per-task': {
    field: 'gpusPerTask',
    form: 'a whole number from 1 to 1024',
    byDefault: undefined,
    meaning: 'GPUs of a task. Left out: an even share.',
    read: countTo(1024),
  },
  exclusive: {
    field: 'exclusive',
    form: 'true or false',
    byDefault: 'true',
    meaning:
      'Whether the program has the whole of its Pods. With false it has the cores and GPUs of its tasks, beside other jobs of Flux.',
    read: truth,
  },
  'cpu-affinity': {
    field: 'cpuAffinity',
    form: 'auto, per-task, on or off',
    byDefault: 'auto',
    meaning:
      'How tasks are bound to cores: each to its own, or all to those of the Pod. auto: per-task where the container has as many cores as it asked for, else off, as Pods of one machine would share the first cores.',
    read: oneOf('auto', 'per-task', 'on', 'off'),
  },
  'gpu-affinity': {
    field: 'gpuAffinity',
    form: 'per-task, on or off',
    byDefault: 'per-task',
    meaning: 'Which GPUs a task sees: its own, those of its Pod, or what the container has.',
    read: oneOf('per-task', 'on', 'off'),
  },
  pmi: {
    field: 'pmi',
    form: 'simple or pmix',
    byDefault: 'simple',
    meaning:
      'How MPI is told of its ranks. pmix needs the plugin flux-pmix in the view image, and an MPI that was built with PMIx.',
    read: oneOf('simple', 'pmix'),
  },
  interactive: {
    field: 'interactive',
    form: 'true or false',
    byDefault: 'false',
    meaning: 'Whether the lead starts a broker and waits for people, instead of running a command.',
    read: truth,
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
    read: apart,
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
