import { deprecation, outOfRange, type ContractRange } from '../api/contract-range.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import { checkName, type ModuleKind } from './import-module.ts';
import type { Operation } from './messages.ts';
import type { ModuleSource } from './module-file.ts';
import type { Kept } from './module-keeper.ts';

/** An entry of a list of modules in the configuration. */
export interface ModuleEntry {
  readonly name: string;
  readonly source: ModuleSource;
  readonly config: JsonObject;
}

/** What every module says of itself. */
interface Named {
  readonly name: string;
  readonly contractVersion: number;
}

/** What is kept running for an entry: held to the name of that, and to the versions that are served. */
export const keptEntry = <Facts extends Named>(
  what: ModuleKind,
  { name, source, config }: ModuleEntry,
  by: {
    readonly operation: Operation;
    readonly range: ContractRange;
    readonly factsOf: (said: Json) => Facts;
  },
): Kept<Facts> => ({
  what,
  name,
  source,
  operation: by.operation,
  given: { config },
  factsOf: (said) => {
    const facts = by.factsOf(said);
    checkName(what, facts.name, name, source);
    const wrong = outOfRange(`${what} ${name}`, facts.contractVersion, by.range);
    if (wrong === undefined) return facts;
    const fix = `use the release of the ${what} that goes with this Muster`;
    throw new MusterError('BACKEND_CONTRACT', wrong, fix);
  },
  noticeOf: (facts) => deprecation(what, facts, by.range),
});
