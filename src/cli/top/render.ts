import { formatCount } from '../../k8s/quantity.ts';
import type { Resources } from '../../k8s/field-reader.ts';
import { kubeTime } from '../../k8s/time.ts';
import { gpuCount, type TopGang, type TopReason, type TopTotals } from '../../status/top.ts';
import { printable } from '../../text/printable.ts';
import type { Palette } from '../output/palette.ts';
import { columns, reflowed } from '../output/text-layout.ts';
import { ageText } from '../status/table.ts';

export interface Top {
  readonly gangs: readonly TopGang[];
  readonly totals: TopTotals;
  readonly unknown: readonly string[];
}

const WORDS: Readonly<Record<TopReason, string>> = {
  PodGang: 'a PodGang',
  Pods: 'Pods',
  Initialized: 'Initialized',
  gates: 'gates',
  scheduler: 'the scheduler',
  Ready: 'Ready',
};

/** Sentences about what is not known that are printed. */
const MOST_UNKNOWN = 5;

/** As `-o json` prints it. */
export const topJson = ({ gangs, totals, unknown }: Top): object => ({
  gangs: gangs.map(({ asked, since, ...gang }) => ({
    ...gang,
    since: since === undefined ? null : kubeTime(since),
    heldBack: amountsObject(asked),
  })),
  totals: {
    gangs: totals.gangs,
    reasons: Object.fromEntries(totals.reasons),
    gatedPods: totals.gatedPods,
    askedForByGatedPods: amountsObject(totals.asked),
    gpusAskedForByGatedPods: gpuCount(totals.asked),
    ...(totals.free !== undefined && { freeOnNodes: amountsObject(totals.free) }),
    ...(totals.idle !== undefined && {
      idleBecauseOfGates: amountsObject(totals.idle),
      gpusIdleBecauseOfGates: gpuCount(totals.idle),
    }),
  },
  unknown,
});

const amountsObject = (amounts: Resources): Record<string, string> =>
  Object.fromEntries([...amounts].map(([resource, count]) => [resource, formatCount(resource, count)]));

const amountsLine = (amounts: Resources): string =>
  [...amounts].map(([resource, count]) => `${formatCount(resource, count)} ${resource}`).join(', ') || '-';

/** The totals, then a table of the gangs. @param now milliseconds since 1970 */
export function topText(
  { gangs, totals, unknown }: Top,
  { palette, width, now }: { readonly palette: Palette; readonly width: number; readonly now: number },
): string {
  const rows = gangs.map((gang) => [
    `${gang.namespace}/${gang.name}`,
    gang.since === undefined ? '-' : ageText(now - gang.since),
    `${gang.pods.gated}/${gang.pods.all}`,
    amountsLine(gang.asked),
    gang.why || '-',
  ]);
  const lines = [
    ...totalLines(totals).map((line) => reflowed(printable(line), width)),
    ...(gangs.length === 0
      ? []
      : [
          '',
          ...columns([['NAMESPACE/GANG', 'WAITING', 'PODS', 'HELD BACK', 'FOR'], ...rows], palette, width),
        ]),
    ...unknown.slice(0, MOST_UNKNOWN).map((one) => reflowed(`not known: ${printable(one)}`, width)),
  ];
  return `${lines.join('\n')}\n`;
}

function totalLines({ gangs, reasons, gatedPods, asked, free, idle }: TopTotals): string[] {
  if (gangs === 0) return ['no gang waits'];
  const counts = [...reasons].map(([reason, count]) => `${count} for ${WORDS[reason]}`).join(', ');
  const gpus = gpuCount(asked);
  const wait = `${gangs} ${gangs === 1 ? 'gang waits' : 'gangs wait'}: ${counts}`;
  return [
    `${wait}; gated Pods (${gatedPods}) ask for ${gpus} ${gpus === 1 ? 'GPU' : 'GPUs'}`,
    ...[
      ['asked for by gated Pods: ', asked] as const,
      ['free on nodes now:       ', free] as const,
      ['idle because of gates:   ', idle] as const,
    ].flatMap(([what, amounts]) => (amounts === undefined ? [] : [`${what}${amountsLine(amounts)}`])),
  ];
}
