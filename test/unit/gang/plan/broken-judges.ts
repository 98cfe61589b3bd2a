import { EMPTY_GANG_PLAN, type GangPlan, type StatusWrite } from '../../../../src/gang/plan/gang-plan.ts';
import type { GangRecord, GangState, PodRecord } from '../../../../src/gang/records.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import { JUDGE, type Judge } from './model-leader.ts';

/** A loop with one guard taken out, and the invariant that has to notice. */
export interface BrokenJudge {
  readonly what: string;
  /** Of the history that notices it first, where that is a late one: the search begins there. */
  readonly seed?: number;
  /** How the failure begins: the invariant's name, or `end` for an end state that differs. */
  readonly noticed: RegExp;
  readonly judge: Judge;
}

const unguarded = {
  ...JUDGE,
  confirmUngates: (ungates: Parameters<Judge['confirmUngates']>[0]) => [...ungates],
};

const withGang = (state: GangState, change: (gang: GangRecord) => GangRecord): GangState =>
  state.gang === 'missing' ? state : { ...state, gang: change(state.gang) };

const pretendInitialized = (state: GangState): GangState =>
  withGang(state, (gang) => ({
    ...gang,
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        reason: 'Pretended',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: undefined,
      },
    ],
  }));

const pretendReferenced = (state: GangState): GangState =>
  withGang(state, (gang) => ({
    ...gang,
    spec: {
      ...gang.spec,
      groups: gang.spec.groups.map((group) => ({
        ...group,
        podReferences: state.pods
          .filter((pod) => pod.group === group.name && pod.namespace === gang.namespace)
          .map(({ namespace, name }) => ({ namespace, name })),
      })),
    },
  }));

const isInitialized = (state: GangState): boolean =>
  state.gang !== 'missing' &&
  state.gang.conditions.some(({ type, status }) => type === 'Initialized' && status === 'True');

const isForeign = ({ backend }: GangState, pod: PodRecord): boolean =>
  pod.schedulerName !== backend.schedulerName;

const forgetSchedulers = (state: GangState): GangState => ({
  ...state,
  backend: { ...state.backend, schedulerName: undefined },
});

/** The right plan with its status changed. */
const status =
  (change: (write: StatusWrite, state: GangState) => StatusWrite) =>
  (state: GangState): GangPlan => {
    const right = planGang(state);
    return right.status === undefined ? right : { ...right, status: change(right.status, state) };
  };

const setInitialized = (write: StatusWrite, value: string): StatusWrite => ({
  ...write,
  conditions: write.conditions.map((one) => (one.type === 'Initialized' ? { ...one, status: value } : one)),
});

const onState =
  (change: (state: GangState) => GangState) =>
  (state: GangState): GangPlan =>
    planGang(change(state));

export const BROKEN: readonly BrokenJudge[] = [
  {
    what: 'ungates without Initialized',
    seed: 5,
    noticed: /^I1/,
    judge: {
      ...unguarded,
      plan: (state) => ({ ...planGang(state), ungate: planGang(pretendInitialized(state)).ungate }),
    },
  },
  {
    what: 'ungates Pods that are not referenced',
    seed: 8,
    noticed: /^I1/,
    judge: {
      ...unguarded,
      plan: (state) => ({ ...planGang(state), ungate: planGang(pretendReferenced(state)).ungate }),
    },
  },
  {
    what: 'does not read the gang again before it ungates',
    seed: 28,
    noticed: /^I1/,
    judge: unguarded,
  },
  {
    what: 'ungates a Pod of the same name with another uid, unconfirmed',
    seed: 10,
    noticed: /^I1/,
    judge: {
      ...unguarded,
      ungatePatch: (ungate, seen) =>
        JUDGE.ungatePatch(ungate, seen).filter((operation) => !/uid/.test(JSON.stringify(operation))),
    },
  },
  {
    what: 'ungates a Pod whose labels have changed since',
    seed: 13,
    noticed: /^I1/,
    judge: {
      ...JUDGE,
      ungatePatch: (ungate, seen) =>
        JUDGE.ungatePatch(ungate, seen).filter((operation) => !/labels/.test(JSON.stringify(operation))),
    },
  },
  {
    what: 'takes foreign gates along',
    noticed: /^I4/,
    judge: { ...JUDGE, ungatePatch: () => [{ op: 'remove', path: '/spec/schedulingGates' }] },
  },
  {
    what: 'removes a gate by its place alone',
    seed: 14,
    noticed: /^I4/,
    judge: {
      ...JUDGE,
      ungatePatch: ({ gateIndex }) => [{ op: 'remove', path: `/spec/schedulingGates/${gateIndex}` }],
    },
  },
  {
    what: 'trusts a cache that is not complete',
    seed: 20,
    noticed: /^I3/,
    judge: { ...JUDGE, plan: onState((state) => ({ ...state, synced: true })) },
  },
  {
    what: 'acts on a namespace of which not all is known',
    seed: 49,
    noticed: /^I3/,
    judge: { ...JUDGE, plan: onState((state) => ({ ...state, memoryExceeded: undefined })) },
  },
  {
    what: 'sets Initialized early',
    noticed: /^I2/,
    judge: { ...JUDGE, plan: status((write) => setInitialized(write, 'True')) },
  },
  {
    what: 'takes Initialized back when a gang is short of Pods',
    noticed: /^I2/,
    judge: {
      ...JUDGE,
      plan: status((write) =>
        write.conditions.some(({ type, status: value }) => type === 'Unhealthy' && value === 'True')
          ? setInitialized(write, 'False')
          : write,
      ),
    },
  },
  {
    what: 'writes status without a condition on what it read',
    noticed: /^I[249]/,
    judge: {
      ...JUDGE,
      statusPatch: (write) => ({ status: (JUDGE.statusPatch(write) as { status: unknown }).status }),
    },
  },
  {
    what: 'writes references without a condition on what it read',
    noticed: /^I[39]/,
    judge: {
      ...JUDGE,
      referencesPatch: (write) => JUDGE.referencesPatch(write).slice(2),
    },
  },
  {
    what: 'forgets the conditions of others',
    noticed: /^I4/,
    judge: {
      ...JUDGE,
      plan: status((write) => ({
        ...write,
        conditions: write.conditions.filter(({ type }) => type !== 'DisruptionTarget'),
      })),
    },
  },
  {
    what: 'refers to terminating Pods',
    noticed: /^I3/,
    judge: {
      ...JUDGE,
      plan: onState((state) => ({
        ...state,
        pods: state.pods.map((pod) => ({ ...pod, deletionTimestamp: undefined })),
      })),
    },
  },
  {
    what: 'refers to Pods of another namespace',
    noticed: /^I3/,
    judge: {
      ...JUDGE,
      plan: onState((state) => ({
        ...state,
        pods: state.pods.map((pod) => ({ ...pod, namespace: state.namespace })),
      })),
    },
  },
  {
    what: 'takes names out without reading their Pods',
    noticed: /^I3.*was to be read/,
    judge: { ...JUDGE, takesOutTheLiving: () => false },
  },
  {
    what: 'counts and releases Pods of another scheduler',
    noticed: /^I11/,
    judge: { ...JUDGE, plan: onState(forgetSchedulers) },
  },
  {
    what: 'counts Pods of another scheduler, and holds only those',
    noticed: /^I11/,
    judge: {
      ...JUDGE,
      plan: (state) => {
        const wrong = planGang(forgetSchedulers(state));
        const foreign = new Set(state.pods.filter((pod) => isForeign(state, pod)).map((pod) => pod.name));
        return { ...wrong, ungate: wrong.ungate.filter((ungate) => !foreign.has(ungate.pod)) };
      },
    },
  },
  {
    what: 'releases the others of an Initialized gang in which a Pod of another scheduler stands',
    seed: 7,
    noticed: /^I11.*beside/,
    judge: {
      ...JUDGE,
      plan: (state) => {
        const blind = planGang({ ...state, pods: state.pods.filter((pod) => !isForeign(state, pod)) });
        return { ...planGang(state), ungate: blind.ungate };
      },
    },
  },
  {
    what: 'takes a base gang as scheduled by the Pods of another scheduler',
    seed: 27,
    noticed: /^base gang/,
    judge: {
      ...JUDGE,
      plan: onState((state) => ({
        ...state,
        baseGangs: new Map(
          [...state.baseGangs].map(([name, base]) => [
            name,
            base === 'missing' ? base : { ...base, schedulerName: undefined },
          ]),
        ),
      })),
    },
  },
  {
    what: 'does not sort references',
    noticed: /^I3/,
    judge: {
      ...JUDGE,
      plan: (state) => {
        const { references, ...rest } = planGang(state);
        const groups = references?.groups.map((group) => ({
          ...group,
          references: group.references.toReversed(),
        }));
        return { ...rest, references: references && { ...references, groups: groups ?? [] } };
      },
    },
  },
  {
    what: 'ignores the release order',
    noticed: /^order/,
    judge: {
      ...JUDGE,
      plan: onState((state) => ({ ...state, backend: { ...state.backend, releaseOrder: 'all-at-once' } })),
    },
  },
  {
    what: 'does not wait for the base gang',
    noticed: /^base gang/,
    judge: {
      ...JUDGE,
      plan: onState((state) => ({
        ...state,
        pods: state.pods.map((pod) => ({ ...pod, baseGang: undefined })),
      })),
    },
  },
  {
    what: 'is done with a gang once it is Initialized',
    noticed: /^end/,
    judge: { ...JUDGE, plan: (state) => (isInitialized(state) ? EMPTY_GANG_PLAN : planGang(state)) },
  },
  {
    what: 'never looks at late Pods',
    noticed: /^end/,
    judge: {
      ...JUDGE,
      plan: (state) =>
        isInitialized(state) ? { ...planGang(state), references: undefined } : planGang(state),
    },
  },
  {
    what: 'writes though nothing has changed',
    noticed: /^I9/,
    judge: {
      ...JUDGE,
      plan: (state) => {
        const right = planGang(state);
        const { gang } = state;
        if (!state.synced || gang === 'missing' || gang.phase === undefined || right.status !== undefined) {
          return right;
        }
        const { uid, resourceVersion, phase, conditions } = gang;
        return { ...right, status: { uid, resourceVersion, phase: phase as 'Pending', conditions } };
      },
    },
  },
];
