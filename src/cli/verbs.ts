import type { Verb } from './output/io.ts';

export const verbs: readonly Verb[] = [
  {
    name: 'serve',
    summary: 'answer admission reviews over HTTPS',
    load: async (io) => (await import('./serve/serve.ts')).serveCommand(io),
  },
  {
    name: 'review',
    summary: 'show what admission would do to Pods, PodGangs and workloads, without a cluster',
    load: async (io) => (await import('./review/review.ts')).reviewCommand(io),
  },
  {
    name: 'validate',
    summary: 'check PodGangs, HPCPolicies and configurations, with the place of every fault',
    load: async (io) => (await import('./validate/validate.ts')).validateCommand(io),
  },
  {
    name: 'explain',
    summary: 'explain a rule, label, annotation, field, setting, metric or error by its name',
    load: async (io) => (await import('./explain/explain.ts')).explainCommand(io),
    words: async () => (await import('./explain/explain.ts')).explainable(),
  },
  {
    name: 'status',
    summary: 'show the gangs of a cluster, and why one is not moving',
    load: async (io) => (await import('./status/status.ts')).statusCommand(io),
  },
  {
    name: 'dashboard',
    summary: 'show the gangs of a cluster on a page of this machine, live and read only',
    load: async (io) => (await import('./dashboard/dashboard.ts')).dashboardCommand(io),
  },
  {
    name: 'timeline',
    summary: 'show when each step of a gang happened, and what it waited for in between',
    load: async (io) => (await import('./timeline/timeline.ts')).timelineCommand(io),
  },
  {
    name: 'top',
    summary: 'show which gangs wait longest, for what, and what their gates hold back',
    load: async (io) => (await import('./top/top.ts')).topCommand(io),
  },
  {
    name: 'plan',
    summary: 'show whether a gang fits, and who would have to make room for it',
    load: async (io) => (await import('./plan/plan.ts')).planCommand(io),
  },
  {
    name: 'snapshot',
    summary: 'write what plan needs to know of a cluster to standard output',
    load: async (io) => (await import('./snapshot/snapshot.ts')).snapshotCommand(io),
  },
  {
    name: 'interpret',
    summary: 'show what of a workload counts for a gang: its components, health and dependencies',
    load: async (io) => (await import('./interpret/interpret.ts')).interpretCommand(io),
  },
  {
    name: 'assign',
    summary: 'show which clusters of a fleet a workload goes to, and why not to the others',
    load: async (io) => (await import('./assign/assign.ts')).assignCommand(io),
  },
  {
    name: 'hpc',
    summary: 'show what is made for a gang with an HPCPolicy: scripts, settings, key, Service',
    load: async (io) => (await import('./hpc/hpc.ts')).hpcCommand(io),
  },
  {
    name: 'doctor',
    summary: 'look at an installation in a cluster, and say what is wrong and what mends it',
    load: async (io) => (await import('./doctor/doctor.ts')).doctorCommand(io),
  },
  {
    name: 'uninstall',
    summary: 'take an installation away, in an order that leaves no Pod waiting and refuses none',
    load: async (io) => (await import('./uninstall/uninstall.ts')).uninstallCommand(io),
  },
  {
    name: 'conformance',
    summary: 'try a backend, a preparation or strategies out against every rule of its contract',
    load: async (io) => (await import('./conformance/conformance.ts')).conformanceCommand(io),
  },
  {
    name: 'certs',
    summary: 'make a CA and a serving certificate for development',
    load: async (io) => (await import('./certs/certs.ts')).certsCommand(io),
  },
  {
    name: 'completion',
    summary: 'print what a shell needs to complete verbs, flags and their values',
    load: async (io) => (await import('./completion/completion.ts')).completionCommand(io, verbs),
  },
  {
    name: 'version',
    summary: 'print the version of Muster and what it serves',
    load: async (io) => (await import('./version.ts')).versionCommand(io),
  },
];
