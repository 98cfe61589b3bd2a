import type { PodGang } from '../../api/pod-gang.ts';
import { KEY_QUEUE } from './names.ts';

/** The queue that a PodGang names itself: the label goes before the annotation, and an empty one is none. */
export const ownQueue = ({
  labels,
  annotations,
}: Pick<PodGang, 'labels' | 'annotations'>): string | undefined =>
  labels.get(KEY_QUEUE) || annotations.get(KEY_QUEUE) || undefined;

/** The queue that a gang waits in; undefined where neither it nor the configuration names one. */
export const queueOf = (gang: PodGang, fallback: string | undefined): string | undefined =>
  ownQueue(gang) ?? fallback;
