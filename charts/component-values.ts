import { z } from 'zod';
import { switches } from './sources.ts';

/** A user name; it ends up inside of quotes in expressions of policies. */
export const account = z.string().regex(/^[\w.:@/-]+$/);

const WHAT: Readonly<Record<string, string>> = {
  clientCertificate:
    'Only API servers may call: the CA of their client certificate is in the Secret muster-client-ca (docs/certificates.md).',
  dashboard:
    'Runs `muster dashboard` for the users of the cluster (docs/reference/cli.md). Its certificate is in the Secret muster-dashboard-cert, which you keep.',
  groveOperator:
    'Trusts the Grove operator, which brings the definition of PodGang itself. Install it first: whoever could make its namespace could be it.',
  hpc: 'Gangs that name an HPCPolicy (docs/hpc.md): the rights, and hpc.enabled of the configuration.',
  karmadaAccess:
    "How Muster reaches Karmada's API server: by the kubeconfig in the Secret muster-karmada (docs/fleet.md).",
  karmadaAssigner:
    "Muster places bindings in Karmada's API server. Besides it takes manifests/karmada/assigner, there.",
  karmadaInterpreter: "Muster answers Karmada's interpreter. Besides it takes manifests/karmada, there.",
  karmadaQueues:
    "Muster keeps queues in Karmada's API server. Besides it takes manifests/karmada/queues, there.",
  onCall: 'The account and the Role of those who release a gang by hand (docs/three-in-the-morning.md).',
  preemption: 'Muster makes room for gangs (docs/preemption.md): the rights, and preemption.mode: Act.',
  preemptionPastBudgets: 'Besides, past PodDisruptionBudgets.',
  preemptionPreview: 'Forecasts of preemption for dry runs: the rights, and more memory.',
  workloads:
    "Reads JobSets, LeaderWorkerSets, Kubeflow's, Ray's and Volcano's jobs, for gangs of workloads (docs/workloads.md).",
};

/** A component of manifests/ without a sentence here is refused by the test of the chart. */
export const describedSwitches = (): readonly string[] => Object.keys(WHAT);

/** Values that a component has beside its switch. */
const FURTHER: Readonly<Record<string, z.ZodRawShape>> = {
  dashboard: {
    hosts: z
      .array(z.string().regex(/^[\w.:[\]-]+$/))
      .min(1)
      .default(['localhost:8443'])
      .describe('What browsers have in their address, with the port where it is none of the usual ones.'),
  },
  groveOperator: {
    accounts: z
      .array(account)
      .default(['system:serviceaccount:grove-system:grove-operator'])
      .describe('The accounts that it runs as.'),
  },
};

const componentSwitch = (name: string) => {
  const enabled = z
    .boolean()
    .default(false)
    .describe(WHAT[name] ?? '');
  return z.strictObject({ enabled, ...FURTHER[name] }).prefault({});
};

/** A switch for each folder of manifests/components, but for those that come with a backend. */
export const components = z
  .strictObject(Object.fromEntries(switches().map((name) => [name, componentSwitch(name)])))
  .prefault({});
