import { LABEL_MANAGED_BY } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';

/**
 * The gang's labels, for its objects to be found by. Who manages the gang does not manage them: on an object of
 * Muster's that label says so.
 */
export const inheritedLabels = (gang: Pick<PodGang, 'labels'>): Record<string, string> =>
  Object.fromEntries([...gang.labels].filter(([key]) => key !== LABEL_MANAGED_BY));
