import { asGithub, asSarif, countsOf, findingLine, type Finding } from '../output/findings.ts';
import type { CliIo } from '../output/io.ts';
import { paletteFor, type Palette } from '../output/palette.ts';
import { toJson, toYaml } from '../output/structured.ts';
import { reflowed, widthFor } from '../output/text-layout.ts';
import { musterVersion } from '../version.ts';
import {
  positionOf,
  refusalsOf,
  renderResult,
  subjectOf,
  verdictOf,
  warningsOf,
  type Verdict,
  type ReviewResult,
} from './render-review.ts';

export const FORMATS = ['text', 'json', 'yaml', 'patch', 'github', 'sarif'] as const;
export type Format = (typeof FORMATS)[number];

/** Prints each result at once, so that the results of a large input are not kept in memory. */
export interface Printer {
  result(result: ReviewResult): void;
  /** @param findings about the input as a whole */
  end(findings: readonly Finding[]): void;
}

export function printerFor(format: Format, io: CliIo, palette: Palette): Printer {
  const { stdout, written } = inBlocks(io);
  const printer = plainPrinter(format, { ...io, stdout }, palette);
  return {
    result: (result) => printer.result(result),
    end: (findings) => {
      printer.end(findings);
      written();
    },
  };
}

/** Characters that are written by one system call: thousands of results would otherwise need one each. */
const BLOCK = 65_536;

function inBlocks(io: CliIo): { stdout: (text: string) => void; written: () => void } {
  let waiting = '';
  const written = (): void => {
    if (waiting !== '') io.stdout(waiting);
    waiting = '';
  };
  const stdout = (text: string): void => {
    waiting += text;
    if (waiting.length >= BLOCK) written();
  };
  return { stdout, written };
}

function plainPrinter(format: Format, io: CliIo, palette: Palette): Printer {
  switch (format) {
    case 'text':
      return textPrinter(io, palette);
    case 'json':
      return jsonPrinter(io);
    case 'yaml':
      return storedPrinter(io, (result) => {
        const title = result.ref.template === undefined ? '' : `# ${subjectOf(result)}\n`;
        return `---\n${title}${toYaml(result.stored ?? null)}`;
      });
    case 'patch':
      return storedPrinter(io, ({ changes }) => `${toJson(changes.map(({ operation }) => operation))}\n`);
    case 'github':
    case 'sarif':
      return findingsPrinter(io, (all) =>
        format === 'github' ? asGithub(all) : asSarif(all, musterVersion()),
      );
  }
}

/** One block for each result with an empty line between them, then a summary. */
function textPrinter(io: CliIo, palette: Palette): Printer {
  const counts: Record<Verdict, number> = { made: 0, changed: 0, unchanged: 0, denied: 0, skipped: 0 };
  const skipped = new Map<string, number>();
  let first = true;
  const width = widthFor(io, Infinity);
  const block = (lines: readonly string[]): void => {
    io.stdout(`${first ? '' : '\n'}${lines.join('\n')}\n`);
    first = false;
  };
  return {
    result: (result) => {
      const verdict = verdictOf(result);
      counts[verdict] += 1;
      if (verdict !== 'skipped') return block(renderResult(result, palette, width));
      const kind = subjectOf({ ...result, ref: { ...result.ref, namespace: '', name: '-' } }).slice(0, -2);
      skipped.set(kind, (skipped.get(kind) ?? 0) + 1);
    },
    end: (findings) => {
      const total = Object.values(counts).reduce((sum, one) => sum + one, 0);
      if (counts.skipped > 0) {
        const kinds = [...skipped].map(([kind, number]) => (number === 1 ? kind : `${kind} × ${number}`));
        block([`${palette.reason('skipped')}, with nothing to review in them: ${kinds.join(', ')}`]);
      }
      if (findings.length > 0)
        block(findings.map((finding) => reflowed(findingLine(finding, palette), width)));
      if (total === 0) return;
      const parts = Object.entries(counts)
        .filter(([verdict, number]) => verdict !== 'made' || number > 0)
        .map(([verdict, number]) => `${number} ${verdict}`);
      const whole = findings.length === 0 ? '' : `; of the whole: ${countsOf(findings)}`;
      block([`${total} ${total === 1 ? 'review' : 'reviews'}: ${parts.join(', ')}${whole}`]);
    },
  };
}

/** Every result with all its fields, as one array; findings about the whole input go to standard error. */
function jsonPrinter(io: CliIo): Printer {
  let before = '[\n';
  return {
    result: (result) => {
      const text = toJson(jsonOf(result), 2);
      io.stdout(`${before}${text.replaceAll(/^/gm, '  ')}`);
      before = ',\n';
    },
    end: (findings) => {
      io.stdout(before === '[\n' ? '[]\n' : '\n]\n');
      tell(findings, io);
    },
  };
}

function jsonOf(result: ReviewResult): object {
  const { ref, reviewed, allowed, code, message, causes, warnings, backend, gang, changes, source } = result;
  return {
    ref,
    source: { file: source.file, ...source.locate('') },
    reviewed,
    allowed,
    code,
    message,
    causes: causes.map((cause) => ({
      reason: cause.reason,
      message: cause.message,
      field: cause.field,
      ...positionOf(result, cause.field),
    })),
    warnings,
    backend: backend ?? null,
    gang: gang ?? null,
    patch: changes.map(({ operation }) => operation),
    ...(result.made !== undefined && { made: result.made, object: result.stored ?? null }),
  };
}

/**
 * Prints the objects as they would be stored, or their patches; for a workload, which is stored unchanged, those of its
 * Pods. Refusals and warnings go to standard error.
 */
function storedPrinter(io: CliIo, write: (result: ReviewResult) => string): Printer {
  return {
    result: (result) => {
      if (result.stored !== undefined) io.stdout(write(result));
      tell([...refusalsOf(result), ...warningsOf(result)], io);
    },
    end: (findings) => tell(findings, io),
  };
}

function findingsPrinter(io: CliIo, write: (findings: readonly Finding[]) => string): Printer {
  const all: Finding[] = [];
  return {
    result: (result) => void all.push(...refusalsOf(result), ...warningsOf(result)),
    end: (findings) => io.stdout(write([...all, ...findings])),
  };
}

function tell(findings: readonly Finding[], io: CliIo): void {
  const palette = paletteFor('never', io);
  for (const finding of findings) io.stderr(`${findingLine(finding, palette)}\n`);
}
