import { arrow, picture, rect, svgText as text } from '../src/text/svg.ts';

interface Guard {
  readonly name: string;
  readonly where: string;
  readonly keeps: readonly string[];
  readonly down: readonly string[];
}

const GUARDS: readonly Guard[] = [
  {
    name: 'Policies',
    where: 'inside the API server',
    keeps: [
      '• the gate is put on',
      '• only trusted accounts',
      '   take it off',
      '• gang labels stay',
      '• Initialized stays True',
    ],
    down: ['hold as ever'],
  },
  {
    name: 'Webhook',
    where: 'Muster, every replica',
    keeps: [
      '• Pods are prepared',
      '   for their scheduler',
      '• mistakes are refused',
      '   with the way out',
      '• references stay',
    ],
    down: ['gang Pods are refused,', 'their controllers retry'],
  },
  {
    name: 'Loop',
    where: 'Muster, one replica',
    keeps: [
      '• counts the Pods',
      '• sets Initialized',
      '• takes the gates off',
      '• writes PodGroups',
      '• says why a gang waits',
    ],
    down: ['gangs wait, gated, until', 'a replica is back'],
  },
  {
    name: 'Scheduler',
    where: 'kube-scheduler, KAI, …',
    keeps: ['• finds the nodes', '• all or nothing, where', '   it knows gangs', '• queues, preemption'],
    down: ['goes on with what', 'has no gate left'],
  },
];

const WIDTH = 880;
const CARD = 190;
const GAP = 28;

/** Who keeps a gang whole, and what becomes of that while Muster is down. */
export function guards(): string {
  const parts = [text(16, 28, 'Who guards what, on the way of a Pod', { bold: true, size: 16 })];
  GUARDS.forEach(({ name, where, keeps, down }, index) => {
    const x = 18 + index * (CARD + GAP);
    parts.push(rect('card', x, 46, CARD, 176, 8));
    parts.push(text(x + 14, 70, name, { bold: true }));
    parts.push(text(x + 14, 88, where, { paint: 'soft', size: 12 }));
    keeps.forEach((words, line) =>
      parts.push(text(x + (words.startsWith(' ') ? 24 : 14), 116 + line * 22, words.trim(), { size: 13 })),
    );
    parts.push(rect('down', x, 232, CARD, 64, 8));
    parts.push(text(x + 14, 251, 'Muster down', { paint: 'bad', bold: true, size: 12 }));
    down.forEach((words, line) => parts.push(text(x + 14, 269 + line * 17, words, { size: 12 })));
    if (index > 0) parts.push(arrow(x - GAP + 4, x - 4, 132));
  });
  return picture(
    { width: WIDTH, height: 312 },
    'Who guards what, on the way of a Pod',
    GUARDS.map(
      ({ name, where, keeps, down }) =>
        `${name} (${where}): ${keeps.join(' ').replace(/[• ]+/g, ' ').trim()}. While Muster is down: ${down.join(' ')}.`,
    ).join(' '),
    parts,
  );
}
