import { fault, type Fault } from '../../api/fault.ts';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import { own, type JsonObject } from '../../json/json.ts';

/** Words for a number of processes that follows from the container's resources, as in torchrun and Kubeflow. */
const WORDS = ['auto', 'cpu', 'gpu'] as const;
export type ProcessesWord = (typeof WORDS)[number];

/** `spec.torch` of an HPCPolicy: PyTorch's settings for processes. */
export interface TorchSettings {
  readonly procPerNode: number | ProcessesWord;
  /** Name of the container that gets the variables; undefined: the Pod's only one. */
  readonly container: string | undefined;
}

export const TORCH_FIELDS = ['procPerNode', 'container'] as const;

export function torchSettings(torch: JsonObject, faults: Fault[]): TorchSettings {
  const processes = own(torch, 'procPerNode') ?? 1;
  const procPerNode = isCount(processes) ? processes : WORDS.find((word) => word === processes);
  if (procPerNode === undefined) {
    faults.push(fault('TorchProcPerNodeInvalid', 'spec.torch.procPerNode', { value: processes }));
  }
  const named = own(torch, 'container') ?? undefined;
  const container = typeof named === 'string' && isDnsLabel(named) ? named : undefined;
  if (named !== undefined && container === undefined) {
    faults.push(fault('TorchContainerInvalid', 'spec.torch.container', { value: named }));
  }
  return { procPerNode: procPerNode ?? 1, container };
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 1024;
