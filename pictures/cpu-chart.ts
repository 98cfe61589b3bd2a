import type { Figures } from './figures.ts';
import { svgPath as path, picture, rect, svgText as text, type Paint } from '../src/text/svg.ts';

const WIDTH = 880;
const LEFT = 250;
const RIGHT = 700;
const BAR = 20;
const TOP = 62;

const SERVERS = [
  ['bare', 'bare node:https', 'other'],
  ['muster', 'Muster', 'placed'],
  ['controllerRuntime', 'controller-runtime', 'waits'],
] as const satisfies readonly (readonly [string, string, Paint])[];

const grouped = (micros: number): string => String(micros).replace(/\B(?=(\d{3})+$)/g, ',');

/** CPU per review as multiples of the bare server's, for each size; the figures themselves stand beside the bars. */
export function cpuChart({ measuredOn, cpuMicros }: Figures): string {
  const most = Math.max(...cpuMicros.map(({ timesBare }) => timesBare.controllerRuntime));
  const scale = (RIGHT - LEFT) / most;
  const parts = [text(16, 28, 'CPU for one review', { bold: true, size: 16 })];
  parts.push(text(16, 47, `shorter is better; measured on ${measuredOn}`, { paint: 'soft', size: 12 }));
  const group = BAR * SERVERS.length + 18;
  cpuMicros.forEach((row, index) => {
    const y = TOP + index * group;
    parts.push(text(16, y + 36, row.review, { bold: true }));
    SERVERS.forEach(([key, name, paint], line) => {
      const times = key === 'bare' ? 1 : row.timesBare[key];
      const at = y + line * BAR;
      parts.push(text(LEFT - 10, at + 15, name, { at: 'end', size: 13, bold: key === 'muster' }));
      const length = Math.max(2, Math.round(times * scale));
      parts.push(rect(paint, LEFT, at + 2, length, BAR - 5, 3));
      parts.push(
        text(LEFT + length + 8, at + 15, `${grouped(row[key])} µs, ${times.toFixed(2)} ×`, {
          size: 12,
          bold: key === 'muster',
        }),
      );
    });
  });
  const bottom = TOP + cpuMicros.length * group - 12;
  const one = Math.round(LEFT + scale);
  parts.push(path(`M${one} ${TOP - 6}V${bottom}`, true));
  parts.push(text(one, bottom + 16, '1 × bare', { at: 'middle', size: 12, paint: 'soft' }));
  return picture(
    { width: WIDTH, height: bottom + 28 },
    'CPU for one review',
    cpuMicros
      .map(
        (row) =>
          `${row.review}: ${SERVERS.map(([key, name]) => `${name} ${grouped(row[key])} µs`).join(', ')}.`,
      )
      .join(' '),
    parts,
  );
}
