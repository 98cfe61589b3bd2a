/** Who controls a Pod, as its `ownerReferences` have it. */
export interface PodController {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The workload that a Pod with the label `muster.dev/gang` comes from: what the Pod itself tells of it, with no look-up. */
export interface PodOrigin {
  /** As the names of gangs begin: `job`. Empty where nobody tells of such a kind, or not any more. */
  readonly kind: string;
  /** The workload whose numbers count. */
  readonly name: string;
  /** Its uid; undefined where its Pods do not tell it. */
  readonly uid: string | undefined;
  /** Where a workload is several gangs: which of them. */
  readonly part: string | undefined;
  readonly controller: PodController;
  /** The annotation `muster.dev/gang-size`. */
  readonly size: string | undefined;
}

/** `job/train`: what people call a workload. */
export const workloadTitle = ({ kind, name }: Pick<PodOrigin, 'kind' | 'name'>): string => `${kind}/${name}`;
