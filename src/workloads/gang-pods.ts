import { isObject, own, type JsonObject } from '../json/json.ts';
import { askingWorkload } from './asking-workload.ts';
import { hasLabel } from './gang-label.ts';
import { isMultiTemplate, templatesOf } from './components.ts';
import { nameOf } from './controlling.ts';
import { previewGang } from './preview-gang.ts';
import type { GangKind } from './kind.ts';
import { gangNumbers } from './gang-numbers.ts';
import { MAIN } from './single-template.ts';
import { podFromTemplate } from './pod-from-template.ts';
import { namesAsLabels, namesOf } from './pod-names.ts';
import { marksOf } from './pod-origin.ts';
import { WorkloadReading } from './workload-reading.ts';

/** The PodGangs that Muster makes for a workload, only the first of numbered ones, and their Pods as admitted. */
export interface GangPods {
  readonly gangs: readonly JsonObject[];
  readonly pods: readonly { readonly pod: JsonObject; readonly count: number }[];
}

/**
 * The gangs and Pods of a workload with the label `muster.dev/gang` on a Pod template; undefined for any other object.
 * @param namespace default for a workload without a namespace
 */
export function gangPodsOf(
  object: JsonObject,
  namespace: string,
  kinds?: readonly GangKind[],
): GangPods | undefined {
  const by = askingWorkload(object, kinds)?.by;
  if (by === undefined) return undefined;
  const { workload, kind } = by;
  const { groups } = gangNumbers(workload, kind);
  const gangs = new Map<string, JsonObject>();
  const pods = templatesOf(workload, kind, new WorkloadReading(workload)).flatMap(
    ({ name, template }, index) => {
      const count = groups[index]?.replicas ?? 0;
      if (template === undefined || !hasLabel(template) || count === 0) return [];
      const group = isMultiTemplate(kind) ? name : MAIN;
      const { labels, controller, name: podName } = kind.mark(nameOf(workload), group, undefined);
      const bare = podFromTemplate(template, { name: nameOf(workload), namespace });
      const marked = withMetadata(bare, labels, {
        ...(podName !== undefined && { name: podName }),
        ownerReferences: [{ ...controller, uid: '', controller: true }],
      });
      const told = namesOf(marksOf(marked), kinds);
      if (told.is !== 'given') return [];
      const pod = withMetadata(bare, { ...labels, ...Object.fromEntries(namesAsLabels(told)) });
      const preview = previewGang(marked, object, { namespace, name: told.gang, kinds });
      if (preview !== undefined) gangs.set(told.gang, preview.gang);
      return [{ pod, count }];
    },
  );
  return { gangs: [...gangs.values()], pods };
}

function withMetadata(
  pod: JsonObject,
  labels: Readonly<Record<string, string>>,
  more: JsonObject = {},
): JsonObject {
  const metadata = own(pod, 'metadata');
  const before = own(metadata, 'labels');
  return {
    ...pod,
    metadata: {
      ...(isObject(metadata) && metadata),
      ...more,
      labels: { ...(isObject(before) && before), ...labels },
    },
  };
}
