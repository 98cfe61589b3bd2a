import { quoted } from '../../text/printable.ts';
import { isScheduled, takeCensus } from './census.ts';
import type { BaseGang } from '../records.ts';
import { boundShortfall } from './group-counts.ts';

/**
 * Why Pods with this base gang have to wait, or undefined once it is scheduled: every one of its groups has its
 * minimum of Pods bound. A base gang that is not there may still come, so that is a reason to wait, too.
 */
export function baseGangWait(
  name: string,
  base: BaseGang | 'missing' | undefined,
  ownName: string,
): string | undefined {
  if (name === ownName)
    return 'the label grove.io/base-podgang names the gang itself: correct it where the Pod comes from, and delete the Pod';
  if (base === undefined || base === 'missing') return `the base gang ${quoted(name)} does not exist`;
  const census = takeCensus(base.gang, base.pods, base.schedulerName);
  if (isScheduled(census)) return undefined;
  const missing = boundShortfall(census);
  return `the base gang ${quoted(name)} is not scheduled${missing === '' ? '' : `: bound ${missing}`}`;
}
