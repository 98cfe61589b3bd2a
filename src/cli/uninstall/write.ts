import type { PatchOperation } from '../../json/patch.ts';
import type { KubeObject, Resource, Target } from '../../kube/client/resources.ts';
import { DEPLOYMENTS } from './resources.ts';

/** One deletion, or one patch with the `-p` and `--type` that kubectl takes. */
export interface Write {
  readonly target: Target;
  readonly patch?: { readonly operations: readonly PatchOperation[]; readonly flags: string };
  /** Whether what it owns is gone before it is: a program ends before its Deployment does. */
  readonly foreground?: boolean;
}

/** What a step would do now, and what it would leave. */
export interface StepWork {
  readonly writes: readonly Write[];
  readonly stays: readonly string[];
}

export const deletions = (
  resource: Resource,
  objects: readonly KubeObject[],
  namespace?: string,
): StepWork => ({
  writes: objects.map(({ metadata: { name } }) => ({
    target: { resource, name, ...(namespace === undefined ? {} : { namespace }) },
    foreground: resource === DEPLOYMENTS,
  })),
  stays: [],
});

export const targetName = ({ resource, namespace, name }: Target): string =>
  `${resource.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
