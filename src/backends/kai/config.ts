import { isDnsSubdomain, isLabelValue } from '../../k8s/name-syntax.ts';
import type { TopologyLevels } from '../../gang/rules/check-topology.ts';
import type { BackendSettings } from '../backend.ts';
import {
  ProfileConfigError,
  readProfileConfig,
  type ProfileConfig,
  type ProfileSettings,
} from '../profile-config.ts';
import { HOSTNAME, KAI_NAME } from './names.ts';

const objectName = (value: string): string | undefined =>
  isDnsSubdomain(value) ? undefined : 'must be a lower-case DNS name of at most 253 characters';

/** Also a table in README.md; a test compares the two. */
export const kaiSettings = {
  schedulerName: {
    type: 'string',
    default: KAI_NAME,
    description: '`spec.schedulerName` that KAI answers to: its own `--scheduler-name`.',
    check: objectName,
  },
  queue: {
    type: 'string',
    description: 'The KAI Queue of gangs that name none. Without it, such a gang is refused.',
    check: (value) =>
      isLabelValue(value) ? undefined : 'must be the name of a Queue, at most 63 characters',
  },
  requireExternalPodGroups: {
    type: 'boolean',
    default: false,
    description:
      'With a KAI older than 0.15, be not ready instead of leaving the grouping to KAI, which knows owners and no gangs.',
  },
  topologyName: {
    type: 'string',
    description:
      'The KAI Topology of gangs that name none. With `topologyAwareScheduling.enabled`, Muster keeps it, with the configured levels.',
    check: objectName,
  },
} as const satisfies ProfileSettings;

export type KaiConfig = ProfileConfig<typeof kaiSettings> & {
  /** Whether topology constraints are written into PodGroups. */
  readonly topologyEnabled: boolean;
  /** Node label keys of the Topology that Muster keeps; undefined when Muster keeps none. */
  readonly keptLevels: readonly string[] | undefined;
};

/** Levels that KAI's Topology CRD accepts at most. */
const MAX_LEVELS = 16;

/** @throws Error with every fault in `config`, and with every reason why no Topology can have the configured levels */
export function readKaiConfig({ config, topology }: BackendSettings): KaiConfig {
  const read = readProfileConfig(config, kaiSettings);
  const keeps = topology.enabled && read.topologyName !== undefined;
  if (keeps) checkLevels(topology);
  return { ...read, topologyEnabled: topology.enabled, keptLevels: keeps ? topology.keys : undefined };
}

function checkLevels({ keys }: TopologyLevels): void {
  const way = 'or leave config.topologyName out and keep the Topology yourself';
  if (keys.length === 0 || keys.length > MAX_LEVELS) {
    const message = `a KAI Topology has 1 to ${MAX_LEVELS} levels, not ${keys.length}; correct them, ${way}`;
    throw new ProfileConfigError([{ field: 'topologyAwareScheduling.levels', message }]);
  }
  const host = keys.indexOf(HOSTNAME);
  if (host >= 0 && host < keys.length - 1) {
    const message = `KAI allows ${HOSTNAME} only as the last level; move it, ${way}`;
    throw new ProfileConfigError([{ field: `topologyAwareScheduling.levels[${host}].key`, message }]);
  }
}
