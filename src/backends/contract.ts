import { outOfRange, type ContractRange } from '../api/contract-range.ts';
import { isObject, ownString } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { Backend, BackendFactory, BackendSettings } from './backend.ts';
import type { BackendFacts } from './cluster.ts';
import { ProfileConfigError, type ProfileConfigFault } from './profile-config.ts';

/** Checks the result of `init` at run time: a module may be plain JavaScript, so its types prove nothing. */
export function checkedFacts(facts: unknown): BackendFacts {
  const { version, notices = [] } = isObject(facts) ? facts : {};
  if (typeof version !== 'string' || version === '') {
    throw new Error("init() must resolve to { version: '…' }: the API that the backend will speak");
  }
  if (!Array.isArray(notices) || !notices.every((notice) => typeof notice === 'string')) {
    throw new Error('init() must resolve to notices that are a list of texts, or to none');
  }
  return facts as BackendFacts;
}

export function checkedKinds(kinds: unknown = []): readonly Resource[] {
  const named = (kind: unknown): boolean =>
    ['group', 'version', 'plural', 'kind'].every((key) => ownString(kind, key) !== undefined);
  if (!Array.isArray(kinds) || !kinds.every(named)) {
    throw new Error('owns() must return a list of { group, version, plural, kind, namespaced }');
  }
  return kinds as readonly Resource[];
}

/** Creates a backend and checks its name and contract version. */
export function createBackend(
  factory: BackendFactory,
  settings: BackendSettings,
  contract: ContractRange,
): Backend {
  let backend: Backend;
  try {
    backend = factory.create(settings);
  } catch (thrown) {
    throw new MusterError(
      'BACKEND_INIT_FAILED',
      `failed to initialize backend: ${factory.name}: ${messageOf(thrown)}`,
      'correct what it names, or take the profile out of scheduler.profiles',
      { cause: thrown },
    );
  }
  checkContract(factory.name, backend, contract);
  return backend;
}

/** Faults in a profile's `config`, found by the backend's own `create`, which needs no cluster. */
export function profileFaults(
  factory: Pick<BackendFactory, 'create'>,
  settings: BackendSettings,
): readonly ProfileConfigFault[] {
  try {
    factory.create(settings);
    return [];
  } catch (thrown) {
    return thrown instanceof ProfileConfigError
      ? thrown.faults
      : [{ field: 'config', message: messageOf(thrown) }];
  }
}

/** @throws MusterError BACKEND_CONTRACT when the backend has another name or version than expected */
export function checkContract(
  name: string,
  backend: Pick<Backend, 'name' | 'contractVersion'>,
  range: ContractRange,
): void {
  const wrong = outOfRange(`backend "${name}"`, backend.contractVersion, range);
  if (wrong !== undefined)
    throw brokenContract(wrong, 'use the release of the backend that goes with this Muster');
  if (backend.name !== name) {
    throw brokenContract(
      `backend "${name}" calls itself "${backend.name}" once it is created`,
      'give the factory and what it creates the same name',
    );
  }
}

export const brokenContract = (message: string, fix: string): MusterError =>
  new MusterError('BACKEND_CONTRACT', message, fix);
