/** On which the first Pod of a gang listens: the port that torchrun takes by itself. */
export const TORCH_PORT = 29_500;

/** What one Pod of a gang is told. */
export interface TorchProcess {
  /** Of the Pod among all that are expected, from 0. */
  readonly rank: number;
  /** How many Pods are expected. */
  readonly nodes: number;
  /** How many processes each of them runs. */
  readonly processes: number;
  /** The name of the first Pod. */
  readonly address: string;
}

/**
 * The environment of a Pod, as text, in a fixed order: first what programs read that start without a launcher, and launchers
 * other than torchrun; then torchrun's own options, each of which it takes from `PET_` and its name. torchrun gives its
 * processes a `RANK` and `WORLD_SIZE` of their own.
 */
export const torchVariables = ({
  rank,
  nodes,
  processes,
  address,
}: TorchProcess): readonly (readonly [string, string])[] => [
  ['MASTER_ADDR', address],
  ['MASTER_PORT', String(TORCH_PORT)],
  ['WORLD_SIZE', String(nodes * processes)],
  ['RANK', String(rank)],
  ['PET_NNODES', String(nodes)],
  ['PET_NPROC_PER_NODE', String(processes)],
  ['PET_NODE_RANK', String(rank)],
  ['PET_MASTER_ADDR', address],
  ['PET_MASTER_PORT', String(TORCH_PORT)],
];

/** By which a container shows that it has them. */
export const TORCH_MARK = 'PET_NNODES';
