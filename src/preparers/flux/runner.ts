import type { Fault } from '../../api/fault.ts';
import { own, type Json, type JsonObject } from '../../json/json.ts';
import { ENTRYPOINT_COMMAND } from './names.ts';
import type { FluxSettings } from './settings.ts';
import { containerOf, gpusOf, type AskedGpus, type ChosenContainer } from '../container.ts';
import type { PodReader } from '../preparer.ts';

/** The container whose command runs under Flux. */
export interface Runner extends ChosenContainer {
  /** What its author wrote into command and args, word for word. */
  readonly argv: readonly string[];
  /** Whether it is under Flux already: the Pod comes by for a second time. */
  readonly wrapped: boolean;
  /** What it asks for. */
  readonly gpus: AskedGpus | undefined;
}

const wordsOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((word) => typeof word === 'string') : [];

/** Whether the words that start the program under Flux stand in a command, also behind what others put before them. */
const isWrapped = (words: readonly string[]): boolean =>
  words.some((_, at) => ENTRYPOINT_COMMAND.every((word, index) => words[at + index] === word));

const argvOf = (container: JsonObject): string[] => [
  ...wordsOf(own(container, 'command')),
  ...wordsOf(own(container, 'args')),
];

/** The one that the settings name, or that is under Flux already, or the only one. */
export function runnerOf(pod: PodReader, { runnerContainer }: FluxSettings): Runner | Fault {
  const chosen = containerOf(pod, runnerContainer, (container) => isWrapped(argvOf(container)));
  if ('rule' in chosen) return chosen;
  const argv = argvOf(chosen.container);
  return { ...chosen, argv, wrapped: isWrapped(argv), gpus: gpusOf(chosen.container) };
}
