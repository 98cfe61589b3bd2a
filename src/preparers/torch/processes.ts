import { fault, type Fault } from '../../api/fault.ts';
import type { TorchSettings } from './settings.ts';
import { coresOf, gpusOf, type ChosenContainer } from '../container.ts';

/**
 * The processes of one Pod, as a number. torchrun would count what the machine has, of which the container may use a part,
 * and the other Pods would not know how many it found: a word means what the container asks for.
 */
export function processesOf(
  { container, path }: ChosenContainer,
  { procPerNode }: TorchSettings,
): number | Fault {
  if (typeof procPerNode === 'number') return procPerNode;
  const gpus = procPerNode === 'cpu' ? undefined : gpusOf(container)?.count;
  if (gpus !== undefined) return gpus;
  return procPerNode === 'gpu' ? fault('TorchGpusMissing', `${path}.resources.limits`) : coresOf(container);
}
