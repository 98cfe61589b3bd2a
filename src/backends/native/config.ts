import type { JsonObject } from '../../json/json.ts';
import { suggestion } from '../../text/nearest-key.ts';
import { readProfileConfig, type ProfileSettings } from '../profile-config.ts';
import { NATIVE_DISRUPTION_MODES, GANG_APIS, type NativeDisruptionMode } from './gang-api.ts';
import { LAYOUTS } from './native-gangs.ts';

/** `auto`: `composite` when the cluster serves CompositePodGroups, else `flat`. */
const GROUP_LAYOUTS = ['auto', ...LAYOUTS] as const;

const APIS = ['auto', ...GANG_APIS.map(({ version }) => version), 'none'];

/** Settings of a profile `default-scheduler`; README.md has the table. */
export const nativeSettings = {
  gangScheduling: {
    type: 'boolean',
    default: true,
    description: "Use Kubernetes' own gangs where the cluster has them. `false`: gates alone.",
  },
  api: {
    type: 'string',
    default: 'auto',
    description:
      'Version of `scheduling.k8s.io` with the gangs; `auto` asks the cluster. Fix it where no cluster is asked.',
    check: oneOf(APIS),
  },
  groups: {
    type: 'string',
    default: 'auto',
    description:
      'One native gang for all groups of a PodGang (`flat`), one for each (`per-group`), or one for each under a CompositePodGroup (`composite`); `auto` is `composite` where the cluster serves it, else `flat`.',
    check: oneOf(GROUP_LAYOUTS),
  },
  disruptionMode: {
    type: 'string',
    description:
      'Whether preemption takes single Pods (`pod`) or a native gang as a whole (`gang`), where the gang does not say so itself (`muster.dev/disruption-mode`).',
    check: oneOf(NATIVE_DISRUPTION_MODES),
  },
} as const satisfies ProfileSettings;

export interface NativeConfig {
  /** `auto`, `none`, or a version. */
  readonly api: string;
  readonly groups: (typeof GROUP_LAYOUTS)[number];
  readonly disruptionMode: NativeDisruptionMode | undefined;
}

/** @throws Error that names every unknown or wrong key */
export function readNativeConfig(config: JsonObject): NativeConfig {
  const { gangScheduling, api, groups, disruptionMode } = readProfileConfig(config, nativeSettings);
  return {
    api: gangScheduling ? api : 'none',
    groups: groups as NativeConfig['groups'],
    disruptionMode: disruptionMode as NativeDisruptionMode | undefined,
  };
}

function oneOf(values: readonly string[]): (value: string) => string | undefined {
  return (value) =>
    values.includes(value) ? undefined : `must be one of ${values.join(', ')}${suggestion(value, values)}`;
}
