import { ownString, type JsonObject } from '../json/json.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import type { GangKind } from './kind.ts';
import { hasLabel } from './gang-label.ts';
import { controlling, type Controlling } from './controlling.ts';
import { fewPodTemplatesOf, type PodTemplate } from './pod-templates.ts';

/** A workload of which a Pod template has the label `muster.dev/gang`. */
export interface AskingWorkload {
  readonly object: JsonObject;
  /** Those by which it was looked at; undefined: those that Muster knows. */
  readonly kinds: readonly GangKind[] | undefined;
  /** Undefined where no kind of the table controls its Pods. */
  readonly by: Controlling | undefined;
  /** The templates with the label. */
  readonly templates: readonly PodTemplate[];
}

/** Undefined for what asks for no gang, for what is no workload, and for one with more templates than anybody writes. */
export function askingWorkload(object: JsonObject, kinds?: readonly GangKind[]): AskingWorkload | undefined {
  const { group } = parseGroupVersion(ownString(object, 'apiVersion') ?? '');
  const title = `${group}/${ownString(object, 'kind') ?? ''}`;
  // A PodTemplate makes nothing by itself.
  if (title === '/PodTemplate' || title === '/Pod') return undefined;
  const templates = fewPodTemplatesOf(object, kinds)?.filter(({ template }) => hasLabel(template)) ?? [];
  return templates.length === 0 ? undefined : { object, kinds, by: controlling(object, kinds), templates };
}
