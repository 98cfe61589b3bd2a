import { isDnsSubdomain } from '../../k8s/name-syntax.ts';
import type { BackendSettings } from '../backend.ts';
import { readProfileConfig, type ProfileConfig, type ProfileSettings } from '../profile-config.ts';

const MAX_SECONDS = 86_400;

/** `scheduler.profiles[].config` of the profile `coscheduling`. */
export const coschedulingSettings = {
  schedulerName: {
    type: 'string',
    default: 'scheduler-plugins-scheduler',
    description:
      'The `schedulerName` whose profile has the plugin Coscheduling on. The default is what the chart "as a second scheduler" calls it; `default-scheduler` where the plugin is in the stock scheduler.',
    check: (name) =>
      isDnsSubdomain(name) ? undefined : 'must be the name of a scheduler, a lower-case DNS name',
  },
  scheduleTimeoutSeconds: {
    type: 'integer',
    description:
      'How long Pods that have a place wait for the others before all of them start over. Unset: what the plugin is configured with, 60 by default.',
    check: (seconds) =>
      seconds >= 1 && seconds <= MAX_SECONDS ? undefined : `must be from 1 to ${MAX_SECONDS}`,
  },
  minResources: {
    type: 'boolean',
    default: false,
    description:
      'Write `spec.minResources` from the annotation `muster.dev/min-resources` of a gang. The plugin compares it with the whole cluster before it tries a Pod.',
  },
} as const satisfies ProfileSettings;

export type CoschedulingConfig = ProfileConfig<typeof coschedulingSettings>;

/** @throws Error that names every key that is wrong */
export const readCoschedulingConfig = ({ config }: Pick<BackendSettings, 'config'>): CoschedulingConfig =>
  readProfileConfig(config, coschedulingSettings);
