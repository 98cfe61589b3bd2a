/** The controller of a Pod, from its `ownerReferences`. */
export interface PodController {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The workload of a Pod with the label `muster.dev/gang`, as far as the Pod itself shows it, without reading other objects.
 */
export interface PodOrigin {
  /** The kind as gangs' names begin with it: `job`. Empty where the configuration lists no such kind (any more). */
  readonly kind: string;
  /** Name of the workload that defines the gang. */
  readonly name: string;
  /** Uid of the workload; undefined where its Pods do not have it. */
  readonly uid: string | undefined;
  /** The part of a workload that is several gangs; undefined where it is one. */
  readonly part: string | undefined;
  readonly controller: PodController;
  /** Value of the annotation `muster.dev/gang-size`. */
  readonly size: string | undefined;
}

/** A workload in messages: `job/train`. */
export const workloadTitle = ({ kind, name }: Pick<PodOrigin, 'kind' | 'name'>): string => `${kind}/${name}`;
