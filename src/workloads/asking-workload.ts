import { ownString, type JsonObject } from '../json/json.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import type { GangKind } from './kind.ts';
import { hasLabel } from './gang-label.ts';
import { controlling, type Controlling } from './controlling.ts';
import { fewPodTemplatesOf, type PodTemplate } from './pod-templates.ts';

/** A workload with the label `muster.dev/gang` on one of its Pod templates. */
export interface AskingWorkload {
  readonly object: JsonObject;
  /** Gang kinds that were searched; undefined: those of Muster. */
  readonly kinds: readonly GangKind[] | undefined;
  /** The workload that controls the Pods; undefined when no known kind does. */
  readonly by: Controlling | undefined;
  /** The templates with the label. */
  readonly templates: readonly PodTemplate[];
}

/**
 * undefined for an object without the label on a template, for an object that is no workload, and for one with more
 * templates than any real workload.
 */
export function askingWorkload(object: JsonObject, kinds?: readonly GangKind[]): AskingWorkload | undefined {
  const { group } = parseGroupVersion(ownString(object, 'apiVersion') ?? '');
  const title = `${group}/${ownString(object, 'kind') ?? ''}`;
  // A PodTemplate creates no Pods.
  if (title === '/PodTemplate' || title === '/Pod') return undefined;
  const templates = fewPodTemplatesOf(object, kinds)?.filter(({ template }) => hasLabel(template)) ?? [];
  return templates.length === 0 ? undefined : { object, kinds, by: controlling(object, kinds), templates };
}
