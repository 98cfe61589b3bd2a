import { printable } from '../../text/printable.ts';
import { MusterError } from '../../errors.ts';

/** Why an input or one document of it is unreadable; others are read nevertheless. */
export interface InputFault {
  readonly file: string;
  /** 1-based; 0 where the file as a whole cannot be read. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly fix: string;
}

/** One error for all unreadable inputs. */
export function unreadable(faults: readonly InputFault[]): MusterError {
  const lines = faults.map(({ file, line, column, message }) =>
    line === 0
      ? `${printable(file, 4096)}: error: ${message}`
      : `${printable(file, 4096)}:${line}:${column}: error: ${message}`,
  );
  const fixes = [...new Set(faults.map(({ fix }) => fix))];
  const summary = `${faults.length === 1 ? 'one place' : `${faults.length} places`} of the input cannot be read`;
  return new MusterError('INPUT_UNREADABLE', lines.join('\n'), fixes.join('\n'), {
    listed: { lines, summary },
  });
}
