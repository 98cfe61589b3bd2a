import { fault, type Fault } from '../../api/fault.ts';
import { isObject, own, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { ENTRYPOINT_COMMAND } from '../../hpc/flux-names.ts';
import type { FluxSettings } from '../../hpc/flux-settings.ts';
import type { PodReader } from '../preparer.ts';

/** The container whose command runs under Flux. */
export interface Runner {
  readonly name: string;
  /** Of the container, `spec.containers[0]`. */
  readonly path: string;
  readonly container: JsonObject;
  /** What its author wrote into command and args, word for word. */
  readonly argv: readonly string[];
  /** Whether it is under Flux already: the Pod comes by for a second time. */
  readonly wrapped: boolean;
}

const wordsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((word) => typeof word === 'string') : [];

/** Whether the words that start the program under Flux stand in a command, also behind what others put before them. */
const isWrapped = (words: readonly string[]): boolean =>
  words.some((_, at) => ENTRYPOINT_COMMAND.every((word, index) => words[at + index] === word));

function runnerAt(container: JsonObject, index: number): Runner {
  const argv = [...wordsOf(own(container, 'command')), ...wordsOf(own(container, 'args'))];
  const name = ownString(container, 'name') ?? '';
  return { name, path: `spec.containers[${index}]`, container, argv, wrapped: isWrapped(argv) };
}

export const containersOf = (pod: PodReader): readonly JsonObject[] => {
  const containers = pod.at(['spec', 'containers']);
  return Array.isArray(containers) ? (containers as readonly Json[]).filter(isObject) : [];
};

/** The one that the settings name, or that is under Flux already, or the only one. */
export function runnerOf(pod: PodReader, { runnerContainer }: FluxSettings): Runner | Fault {
  const all = containersOf(pod).map(runnerAt);
  const named = all.filter(({ name, wrapped }) =>
    runnerContainer === undefined ? wrapped : name === runnerContainer,
  );
  const [runner, ...others] = named.length > 0 || runnerContainer !== undefined ? named : all;
  if (runner !== undefined && others.length === 0) return runner;
  const names = all.map(({ name }) => name).join(', ');
  const detail =
    runnerContainer === undefined
      ? `the Pod has ${names || 'no container'}`
      : `runner-container is ${runnerContainer}, the Pod has ${names || 'no container'}`;
  return fault('HpcRunnerUnknown', 'spec.containers', { detail });
}

/** GPUs that a container asks for: whatever the vendor calls them. */
export function gpusOf(
  container: JsonObject,
): { readonly resource: string; readonly count: number } | undefined {
  const resources = own(container, 'resources');
  for (const part of ['limits', 'requests']) {
    const amounts = own(resources, part);
    const resource = Object.keys(isObject(amounts) ? amounts : {}).find((name) => /gpu/i.test(name));
    const count = Number(own(amounts, resource ?? ''));
    if (resource !== undefined && Number.isInteger(count) && count > 0) return { resource, count };
  }
  return undefined;
}
