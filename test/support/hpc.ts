import type { Json, JsonObject } from '../../src/json/json.ts';
import { parsePodGang } from '../../src/gang/parse-pod-gang.ts';
import { fluxDefaults, type FluxSettings } from '../../src/preparers/flux/settings.ts';
import type { HpcGang } from '../../src/preparers/hosts/hosts.ts';
import { group, podGang } from './pod-gangs.ts';
import { json } from './pods.ts';

/** An HPCPolicy `flux` of the namespace `ml`. */
export const hpcPolicy = (spec: Json): JsonObject =>
  json({
    apiVersion: 'muster.dev/v1alpha1',
    kind: 'HPCPolicy',
    metadata: { namespace: 'ml', name: 'flux' },
    spec,
  });

export const settings = (given: Partial<FluxSettings> = {}): FluxSettings => ({ ...fluxDefaults, ...given });

export interface GangParts {
  readonly name?: string;
  readonly namespace?: string;
  /** `muster.dev/expected-pods` */
  readonly expected?: string;
}

/** A gang `g` of the namespace `n` with groups of these minimums. */
export function gangOf(minimums: Readonly<Record<string, number>>, parts: GangParts = {}): HpcGang {
  const { name = 'g', namespace = 'n', expected } = parts;
  const groups = Object.entries(minimums).map(([one, minReplicas]) => group(one, { minReplicas }));
  const annotations = expected === undefined ? {} : { 'muster.dev/expected-pods': expected };
  return parsePodGang(podGang({ metadata: { name, namespace }, annotations, groups }), namespace).gang;
}
