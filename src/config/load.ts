import { readFileSync } from 'node:fs';
import { isObject } from '../json/json.ts';
import { messageOf, MusterError } from '../errors.ts';
import { type ConfigFault, ConfigurationError, formatPath } from './config-fault.ts';
import type { OperatorConfiguration } from './configuration.ts';
import { locateFinding, readDocument, type DocumentSource } from './document-source.ts';
import {
  applyOverrides,
  COMMAND_LINE,
  environmentOverrides,
  flagOverrides,
  type Override,
} from './overrides.ts';
import { CONFIG_API_VERSION, CONFIG_KIND } from './schema.ts';
import { inspect, type ValidationOptions } from './validate.ts';

export interface LoadOptions extends ValidationOptions {
  /** Content of the file, YAML or JSON; absent where there is none. */
  readonly text?: string;
  /** Name of the file in messages. */
  readonly fileName?: string;
  /** Environment of the process, `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Values of command-line flags by path, such as `{ 'server.webhooks.port': '9443' }`; strings, or values of the setting's
   * type.
   */
  readonly flags: Readonly<Record<string, unknown>>;
}

export interface LoadedConfiguration {
  readonly configuration: OperatorConfiguration;
  readonly warnings: readonly ConfigFault[];
}

const DEFAULT_FILE_NAME = 'configuration';

/** Reads the file. @throws MusterError CONFIG_UNREADABLE */
export function readConfigurationFile(fileName: string): string {
  try {
    return readFileSync(fileName, 'utf8');
  } catch (thrown) {
    throw new MusterError(
      'CONFIG_UNREADABLE',
      `cannot read the configuration file ${fileName}: ${messageOf(thrown)}`,
      'Name an existing file that this user may read.',
      { cause: thrown },
    );
  }
}

/** Order of faults: by position in the file, then those of values that are not from the file. */
const byPosition = (a: ConfigFault, b: ConfigFault): number =>
  (a.line ?? Infinity) === (b.line ?? Infinity)
    ? (a.column ?? 0) - (b.column ?? 0)
    : (a.line ?? Infinity) - (b.line ?? Infinity);

interface Examined {
  readonly configuration?: OperatorConfiguration;
  readonly faults: readonly ConfigFault[];
  readonly unreadable: boolean;
}

function examine(
  source: DocumentSource | undefined,
  overrides: readonly Override[],
  options: ValidationOptions,
): Examined {
  if (source?.unreadable === true) return { faults: source.faults, unreadable: true };
  const written = source === undefined ? { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND } : source.value;
  const merged = isObject(written) ? applyOverrides(written, overrides) : written;
  const { findings, ...rest } = inspect(merged, options);
  const origins = new Map(overrides.map(({ setting, origin }) => [setting.path, origin]));
  const faults = findings.map((finding): ConfigFault => {
    const keys = finding.path.filter((step) => typeof step === 'string');
    const origin = origins.get(formatPath(finding.path)) ?? origins.get(keys.join('.'));
    const { path, message, severity } = locateFinding(finding, undefined);
    return origin === undefined ? locateFinding(finding, source) : { path, message, severity, origin };
  });
  const all = [...(source?.faults ?? []), ...faults].sort(byPosition);
  const failed = all.some(({ severity }) => severity === 'error');
  return { ...(failed ? {} : rest), faults: all, unreadable: false };
}

/**
 * The configuration Muster runs with: flag over environment over file over default.
 * @throws ConfigurationError CONFIG_INVALID with every error, one a line, and all faults in `faults`;
 *   CONFIG_UNREADABLE where the text is neither YAML nor JSON; USAGE where only flags are wrong.
 */
export function loadConfiguration(options: LoadOptions): LoadedConfiguration {
  const source = options.text === undefined ? undefined : readDocument(options.text);
  const { overrides, unknown } = environmentOverrides(options.env);
  const flags = flagOverrides(options.flags);
  const { configuration, faults, unreadable } = examine(source, [...overrides, ...flags], options);
  const variables = unknown.map(({ variable, message }): ConfigFault => ({
    path: '',
    message,
    severity: 'warning',
    origin: variable,
  }));
  const all = [...faults, ...variables];
  if (configuration === undefined) {
    const byFlags = faults.every(({ severity, origin }) => severity !== 'error' || origin === COMMAND_LINE);
    const code = unreadable ? 'CONFIG_UNREADABLE' : byFlags ? 'USAGE' : 'CONFIG_INVALID';
    throw new ConfigurationError(code, all, options.fileName ?? DEFAULT_FILE_NAME);
  }
  return { configuration, warnings: all };
}

/** All faults of the file alone, without environment and flags, for `muster validate`. Never throws. */
export const checkConfiguration = (text: string, options: ValidationOptions): readonly ConfigFault[] =>
  examine(readDocument(text), [], options).faults;
