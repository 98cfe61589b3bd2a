import { FOUNDATIONS, kindOf, ROOMS, type Room, type Way } from '../test/unit/layout-plan.ts';
import { picture, rect, svgText as text, type Paint } from '../src/text/svg.ts';

const TITLE = 'The rooms of src, each of which imports only from rooms below it';
const WAYS: Readonly<Record<Way, Paint>> = { request: 'placed', event: 'runs', verb: 'waits' };

const WIDTH = 880;
const LEFT = 18;
const BOX = 34;
const GAP = 10;
const LETTER = 8;

/** Rooms that import no room of their own row, the innermost row first. */
function rowsOf(rooms: readonly Room[]): Room[][] {
  const heights = new Map<string, number>();
  const rows: Room[][] = [];
  for (const room of rooms) {
    const below = room.uses.map((used) => heights.get(used) ?? heights.get(kindOf(used)) ?? -1);
    const height = Math.max(-1, ...below) + 1;
    heights.set(room.name, height);
    (rows[height] ??= []).push(room);
  }
  return rows;
}

interface Box {
  readonly name: string;
  readonly ways: readonly Way[];
}

const widthOf = ({ name, ways }: Box): number => Math.ceil(name.length * LETTER + ways.length * 13 + 22);

/** Boxes from left to right, in as many lines as they need. */
function linesOf(boxes: readonly Box[]): Box[][] {
  const lines: Box[][] = [[]];
  let x = LEFT;
  for (const box of boxes) {
    if (x + widthOf(box) > WIDTH - LEFT) {
      lines.push([]);
      x = LEFT;
    }
    lines.at(-1)?.push(box);
    x += widthOf(box) + GAP;
  }
  return lines;
}

function drawLine(boxes: readonly Box[], y: number): string[] {
  const whole = boxes.reduce((sum, box) => sum + widthOf(box) + GAP, -GAP);
  let x = (WIDTH - whole) / 2;
  return boxes.flatMap((box) => {
    const left = x;
    const dots = left + box.name.length * LETTER + 18;
    x += widthOf(box) + GAP;
    return [
      rect('card', left, y, widthOf(box), BOX, 8),
      text(left + 11, y + 22, box.name),
      ...box.ways.map((way, index) => rect(WAYS[way], dots + index * 13, y + 12, 10, 10, 5)),
    ];
  });
}

/** Which room may import which, and what passes through each. */
export function rooms(): string {
  const foundations = FOUNDATIONS.map(({ name }) => ({ name, ways: [] }));
  const lines = [...rowsOf(ROOMS).toReversed().flatMap(linesOf), foundations];
  const top = 78;
  const parts = [text(LEFT, 28, TITLE, { bold: true, size: 16 })];
  Object.entries(WAYS).forEach(([way, paint], index) => {
    parts.push(rect(paint, LEFT + index * 150, 46, 10, 10, 5));
    parts.push(text(LEFT + 17 + index * 150, 56, `a ${way} passes`.replace('a e', 'an e'), { size: 13 }));
  });
  lines.forEach((line, index) => parts.push(...drawLine(line, top + index * (BOX + 14))));
  return picture(
    { width: WIDTH, height: top + lines.length * (BOX + 14) + 4 },
    TITLE,
    [...FOUNDATIONS, ...ROOMS].map(({ name, purpose }) => `${name}: ${purpose}`).join(' '),
    parts,
  );
}
