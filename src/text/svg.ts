/** As much of SVG as the pictures need, as text. The colours follow the reader's light or dark scheme. */

export const CLASSES = {
  ground: ['fill', '#ffffff', '#0d1117'],
  card: ['fill', '#f3f5f8', '#1b222c'],
  line: ['stroke', '#b4bcc6', '#4a5462'],
  ink: ['fill', '#1b2129', '#e8edf3'],
  soft: ['fill', '#59636f', '#a4afbc'],
  waits: ['fill', '#b9780a', '#b0780f'],
  placed: ['fill', '#3f7fd6', '#4b8ce6'],
  runs: ['fill', '#2f9c5c', '#3aae69'],
  bad: ['fill', '#c83c3c', '#ef6b6b'],
  down: ['fill', '#f7dcdc', '#43242a'],
  other: ['fill', '#9aa4b0', '#7b8694'],
} as const satisfies Record<string, readonly ['fill' | 'stroke', string, string]>;

export type Paint = keyof typeof CLASSES;

const style = (scheme: 1 | 2): string =>
  Object.entries(CLASSES)
    .map(([name, rule]) => `.${name}{${rule[0]}:${rule[scheme]}}`)
    .join('');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** @param title what a screen reader says first; `description` is what the picture tells, in words */
export function picture(
  size: { width: number; height: number },
  title: string,
  description: string,
  parts: readonly string[],
): string {
  const { width, height } = size;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<style>text{font:14px -apple-system,"Segoe UI","Noto Sans","DejaVu Sans",Helvetica,Arial,sans-serif}.line{fill:none;stroke-width:1.5}${style(1)}@media (prefers-color-scheme: dark){${style(2)}}</style>`,
    `<rect class="ground" width="${width}" height="${height}" rx="8"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

export const rect = (paint: Paint, x: number, y: number, width: number, height: number, round = 4): string =>
  `<rect class="${paint}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`;

export interface TextStyle {
  readonly paint?: Paint;
  readonly size?: number;
  readonly bold?: boolean;
  readonly at?: 'start' | 'middle' | 'end';
}

export function svgText(x: number, y: number, words: string, given: TextStyle = {}): string {
  const { paint = 'ink', size = 14, bold = false, at = 'start' } = given;
  const css = `${size === 14 ? '' : `font-size:${size}px;`}${bold ? 'font-weight:600;' : ''}`;
  return `<text class="${paint}" x="${x}" y="${y}"${at === 'start' ? '' : ` text-anchor="${at}"`}${css === '' ? '' : ` style="${css}"`}>${escaped(words)}</text>`;
}

export const svgPath = (d: string, dashed = false): string =>
  `<path class="line" d="${d}"${dashed ? ' stroke-dasharray="4 4"' : ''}/>`;

/** A line that ends in a head, from left to right. */
export const arrow = (x1: number, x2: number, y: number): string =>
  svgPath(`M${x1} ${y}H${x2}m-7 -5l7 5l-7 5`);
