import { CONDITION_INITIALIZED } from '../api/pod-gang.ts';
import { listed, oneLine } from '../text/printable.ts';
import { completenessOf } from './completeness.ts';
import { podNames, type ReleasedLife } from './generations.ts';
import type { Known, DatedStep } from './step.ts';

export interface WaitsNow {
  readonly since: number;
  readonly generation: number;
  readonly for: string;
}

/** What the gang waits for now: for the last generation, the first thing that it lacks. */
export function waitsNow(known: Known, moments: readonly DatedStep[]): WaitsNow | undefined {
  const generation = known.generations.at(-1);
  const number = generation?.number ?? 1;
  const what = lackOf(known, generation?.lives ?? []);
  if (what === '') return undefined;
  const last = moments.findLast(({ step }) => step !== 'refused');
  return { since: last?.at ?? known.now, generation: number, for: what };
}

function lackOf(known: Known, all: readonly ReleasedLife[]): string {
  const { gang, initialized } = known;
  if (gang === undefined) return 'the PodGang, which does not exist';
  const lives = all.filter(
    ({ gone, deleted, phase }) =>
      !gone && deleted === undefined && phase !== 'Succeeded' && phase !== 'Failed',
  );
  if (lives.length === 0 && all.some(({ phase }) => phase === 'Succeeded')) return '';
  const lacking = completenessOf(gang, all).lacking(Infinity);
  const gated = lives.filter((life) => life.gated);
  if (lacking !== '' && (gated.length > 0 || initialized === undefined || lives.length === 0))
    return `Pods: ${lacking}`;
  if (initialized === undefined)
    return conditionText(known, CONDITION_INITIALIZED) || 'Muster, to write Initialized';
  if (gated.length > 0)
    return conditionText(known, 'Scheduled') || `Muster, to take the gates off ${told(gated)}`;
  return lackOfReleased(lives);
}

/** What Pods without Muster's gate wait for. */
function lackOfReleased(lives: readonly ReleasedLife[]): string {
  const some = (has: (life: ReleasedLife) => boolean): ReleasedLife[] => lives.filter(has);
  const held = some(
    ({ bound, node, otherGates }) => bound === undefined && node === '' && otherGates.length > 0,
  );
  const [first] = held;
  if (first !== undefined) return `gates of others on ${told(held)}: ${first.otherGates.join(', ')}`;
  const unbound = some(({ node }) => node === '');
  if (unbound.length > 0) {
    const words = [...new Set(unbound.flatMap(({ refused }) => refused?.says ?? []))];
    return `the scheduler, to bind ${told(unbound)}${words.length === 0 ? '' : `: ${words.slice(0, 2).join('; ')}`}`;
  }
  const unstarted = some(({ started }) => started === undefined);
  if (unstarted.length > 0) {
    const why = unstarted.find(({ containerWaits }) => containerWaits !== '')?.containerWaits;
    return `the kubelet: images and containers of ${told(unstarted)}${why === undefined ? '' : `: ${why}`}`;
  }
  const unready = some(({ ready }) => ready === undefined);
  return unready.length === 0 ? '' : `${told(unready)} to be ready`;
}

const told = (pods: readonly ReleasedLife[]): string => listed(podNames(pods), 'Pods', 3);

/** The loop's own words in a condition that is not True; '' for none. */
function conditionText({ gang }: Known, type: string): string {
  const condition = gang?.conditions.find((one) => one.type === type);
  return condition === undefined || condition.status === 'True' ? '' : oneLine(condition.message ?? '');
}
