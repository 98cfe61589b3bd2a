import type { Rule } from './rule.ts';

/** Rules about Pods with the label `muster.dev/gang`, and about the workloads of such Pods. */
export const workloadRules = {
  GangLabelValue: {
    code: 422,
    kind: 'NotSupported',
    says: 'the label muster.dev/gang is "true", or not there',
    fix: 'write "true", in quotes; leave the label out of Pods that are no gang',
  },
  GangWorkloadUnknown: {
    code: 422,
    kind: 'Invalid',
    says: 'the gang of a Pod with this label is that of its workload',
    fix: 'use a kind of docs/workloads.md or workloads[], or grove.io/podgang and grove.io/podclique',
  },
  GangWorkloadMismatch: {
    code: 403,
    kind: 'Forbidden',
    says: 'this label of the workload is not what the owner reference of the Pod says',
    fix: 'leave the label to the controller that writes it',
  },
  GangNotNamed: {
    code: 403,
    kind: 'Required',
    says: 'Muster has not named the gang of this Pod',
    fix: 'see that the API server calls Muster (muster doctor), and again after others (reinvocationPolicy: IfNeeded)',
  },
  GangNameForeign: {
    code: 403,
    kind: 'Forbidden',
    says: 'the gang of a Pod with muster.dev/gang is that of its workload',
    fix: 'leave grove.io/podgang and grove.io/podclique to Muster, or muster.dev/gang out',
  },
  PodsOneByOne: {
    code: 422,
    kind: 'Invalid',
    says: 'the next Pod is made once the one before is placed or ready, and a gated Pod never is',
    fix: 'let all Pods be made at once',
  },
  GangNumbersInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'the numbers of this workload make no gang',
    fix: 'correct them, or take muster.dev/gang off its Pod templates',
  },
} as const satisfies Record<string, Rule>;
