import { MusterError, type ErrorCode } from '../errors.ts';
import { quoted } from '../text/printable.ts';

/** Keys and list positions from the root of the document to a value. */
export type ConfigPath = readonly (string | number)[];

export type FaultSeverity = 'error' | 'warning';

/** A fault with its path, before its line in the file is known. */
export interface PathFault {
  readonly path: ConfigPath;
  readonly message: string;
  readonly severity: FaultSeverity;
  /** Whether the key itself is at fault, not its value: the position is then that of the key. */
  readonly atKey?: true;
}

/** One fault of a configuration, for people and for tools. */
export interface ConfigFault {
  /** `scheduler.profiles[1].name`; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
  readonly severity: FaultSeverity;
  /** 1-based; absent where the value does not come from a file. */
  readonly line?: number;
  readonly column?: number;
  /** Source of a value that is not from the file: `MUSTER_LOG_LEVEL` or `command line`. */
  readonly origin?: string;
}

export const error = (path: ConfigPath, message: string): PathFault => ({ path, message, severity: 'error' });
export const warning = (path: ConfigPath, message: string): PathFault => ({
  path,
  message,
  severity: 'warning',
});

/** `scheduler.profiles[1].name`; a key that is no plain word is quoted: `metadata["a.b"]`. */
export function formatPath(path: ConfigPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]{0,79}$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${quoted(step)}]`;
  }
  return text;
}

/**
 * One line in the format of compilers and of `muster validate`: `config.yaml:3:7: error: logLevel: unsupported value …`,
 * `MUSTER_LOG_LEVEL: error: logLevel: …`.
 */
export function formatFault(fault: ConfigFault, fileName: string): string {
  const place =
    fault.origin ?? (fault.line === undefined ? fileName : `${fileName}:${fault.line}:${fault.column ?? 1}`);
  const subject = fault.path === '' ? '' : `${fault.path}: `;
  return `${place}: ${fault.severity}: ${subject}${fault.message}`;
}

/** Every error of a configuration in one exception, one line each; `faults` has the warnings as well. */
export class ConfigurationError extends MusterError {
  readonly faults: readonly ConfigFault[];

  constructor(
    code: (ErrorCode & `CONFIG_${string}`) | 'USAGE',
    faults: readonly ConfigFault[],
    fileName: string,
  ) {
    const errors = faults.filter((fault) => fault.severity === 'error');
    const lines = errors.map((fault) => formatFault(fault, fileName));
    super(
      code,
      lines.join('\n'),
      'Correct every line above; docs/reference/configuration.md lists all settings with their defaults.',
      {
        listed: {
          lines,
          summary: `${lines.length === 1 ? 'one fault' : `${lines.length} faults`} in the configuration`,
        },
      },
    );
    this.name = 'ConfigurationError';
    this.faults = faults;
  }
}
