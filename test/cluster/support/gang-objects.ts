/** As much of the objects of a gang as the tests of the loop look at. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly { name: string }[] };
  readonly status?: object;
}
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
}
export interface Reference {
  readonly namespace: string;
  readonly name: string;
}
export interface Group {
  readonly name: string;
  readonly minReplicas: number;
  readonly podReferences: readonly Reference[];
}
export interface Gang {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly spec: { readonly podgroups: readonly Group[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}
export interface ToldEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}
/** What `muster status -o json` says of a gang. */
export interface Told {
  readonly why: string;
  readonly hpc?: {
    readonly why: string;
    readonly flux?: {
      readonly lead: { readonly host: string; readonly state: string };
      readonly waitsFor: readonly { readonly host: string; readonly state: string }[];
    };
  };
  readonly pods: readonly { readonly name: string; readonly state: string; readonly reason: string }[];
}

export const group = (
  name: string,
  minReplicas: number,
  podReferences: readonly Reference[] = [],
): Group => ({
  name,
  minReplicas,
  podReferences,
});
export const gatesOf = (pod: Pod): string[] => (pod.spec.schedulingGates ?? []).map(({ name }) => name);
