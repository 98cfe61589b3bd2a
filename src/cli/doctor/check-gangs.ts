import { GATE_POD_GANG_PENDING } from '../../api/names.ts';
import type { GangView } from '../../controller/watch/gang-view.ts';
import { listed } from '../../text/printable.ts';
import { isInitialized } from '../../gang/rules/initialized.ts';
import { saying, RIGHTS_FIX, type Diagnosis, type Read } from './diagnosis.ts';

/** A gang or a Pod that waits for longer than this is reported. */
const LONG_MS = 10 * 60 * 1000;

/**
 * Reports gangs that are not Initialized, and gated Pods without a PodGang, after ten minutes. `muster status` says why a
 * gang waits.
 */
export function checkGangs(read: Read<Pick<GangView, 'gangs' | 'pods'>>, now: Date): readonly Diagnosis[] {
  const say = saying('gangs', 'waiting');
  if (read.state === 'unread') return [say.notChecked(read.reason, RIGHTS_FIX)];
  if (read.state === 'absent') return []; // check-definitions.ts reports it
  const { gangs, pods } = read.value;
  const since = (time: string | undefined): number => now.getTime() - Date.parse(time ?? '');
  const stuck = [...gangs.values()].filter(
    (gang) =>
      !isInitialized(gang) && gang.deletionTimestamp === undefined && since(gang.creationTimestamp) > LONG_MS,
  );
  const orphans = new Set(
    [...pods.values()]
      .filter(
        (pod) =>
          pod.gates.includes(GATE_POD_GANG_PENDING) &&
          pod.deletionTimestamp === undefined &&
          since(pod.creationTimestamp) > LONG_MS &&
          gangs.get(pod.namespace, pod.gang) === undefined,
      )
      .map(({ namespace, gang }) => `${namespace}/${gang}`),
  );
  const findings: Diagnosis[] = [];
  if (stuck.length > 0) {
    const names = stuck.map(({ namespace, name }) => `${namespace}/${name}`).sort();
    const what = `not Initialized for more than 10 minutes: ${listed(names, 'gangs')}`;
    findings.push(say.warning(what, 'muster status -A says of each what it waits for'));
  }
  if (orphans.size > 0) {
    const what = `gated Pods without a PodGang for more than 10 minutes: ${listed([...orphans].sort(), 'gangs')}`;
    const fix = 'create the PodGang, or delete the Pods: muster status -A shows both';
    findings.push(saying('gangs', 'orphans').warning(what, fix));
  }
  return findings.length > 0 ? findings : [say.ok(`${gangs.size} gangs, none waits for long`)];
}
