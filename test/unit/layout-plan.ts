/** The rooms of src, from which the layout test, docs/architecture.md and docs/pictures/rooms.svg are made. */

/** What goes through src: a request to the webhook, an event of the API server, a verb of the command line. */
export type Way = 'request' | 'event' | 'verb';

export interface Room {
  /** Its folder in src, the deepest that is listed; `X/*` stands for each folder of X that has no entry of its own. */
  readonly name: string;
  /** What belongs there, in a sentence. */
  readonly purpose: string;
  /** The rooms that it may import, beside the foundations. */
  readonly uses: readonly string[];
  /** What passes through it. */
  readonly ways: readonly Way[];
}

/** What is true without gangs. Every room may use these, and each of them those before it. */
export const FOUNDATIONS: readonly Omit<Room, 'uses' | 'ways'>[] = [
  { name: 'text', purpose: 'Text of anybody: printing it safely, the nearest known key, a hash.' },
  { name: 'json', purpose: 'Reads bounded JSON, leaves out lists that nobody asks for, and says so.' },
  {
    name: 'protobuf',
    purpose: 'Reads the named fields of messages in Protocol Buffers into what JSON would have.',
  },
  {
    name: 'k8s',
    purpose: 'What is true of Kubernetes without gangs: quantities, selectors, taints, times, names.',
  },
];

/** From the innermost outwards: a room uses rooms above it in this list only. */
export const ROOMS: readonly Room[] = [
  {
    name: 'errors',
    purpose: "The catalogue of the program's errors, each with its exit code, cause and way out.",
    uses: [],
    ways: ['verb'],
  },
  {
    name: 'api',
    purpose: "Muster's and Grove's own types and names, and the catalogue of rules that refuse or warn.",
    uses: [],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'gang',
    purpose: 'The domain, pure: records of gangs and Pods, membership, selection.',
    uses: ['api'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'gang/rules',
    purpose: 'What a PodGang must keep to: one rule a file, in two named lists.',
    uses: ['api', 'gang'],
    ways: ['request', 'verb'],
  },
  {
    name: 'gang/plan',
    purpose: "The loop's judgement: one pure function from a gang and its Pods to writes.",
    uses: ['api', 'gang', 'gang/rules'],
    ways: ['event'],
  },
  {
    name: 'timeline',
    purpose: "When each step of a gang's life happened and what it waited for: pure, of objects and Events.",
    uses: ['api', 'gang', 'gang/rules'],
    ways: ['verb'],
  },
  {
    name: 'preemption',
    purpose: 'Who has to go for whom: pure, of one snapshot of a cluster.',
    uses: ['api'],
    ways: ['event', 'verb'],
  },
  {
    name: 'workloads',
    purpose: 'What a Job, a JobSet, a RayCluster … means as a gang.',
    uses: ['api', 'errors'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'fleet',
    purpose: "What Karmada's interpreter is answered about a gang: pure.",
    uses: ['api', 'workloads', 'errors'],
    ways: ['request', 'verb'],
  },
  {
    name: 'fleet/assign',
    purpose: 'Which clusters of a fleet a workload goes to: pure.',
    uses: ['api', 'errors'],
    ways: ['event', 'verb'],
  },
  {
    name: 'fleet/queues',
    purpose: "Which queue's binding is placed next: pure.",
    uses: [],
    ways: ['event', 'verb'],
  },
  {
    name: 'fleet/bindings',
    purpose: 'What Karmada and others write into a binding beside its placement: pure.',
    uses: ['api', 'errors', 'workloads', 'fleet', 'fleet/assign', 'fleet/queues'],
    ways: ['event', 'verb'],
  },
  {
    name: 'preparers',
    purpose: "Who may change a gang's Pod: the contract, the order, and a folder for each preparer.",
    uses: ['api', 'gang', 'errors'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'preparers/flux/curve',
    purpose:
      'Makes the CurveZMQ certificate of a gang under Flux; the one preparer file that uses random numbers.',
    uses: ['preparers'],
    ways: ['event'],
  },
  {
    name: 'backends',
    purpose: 'A preparer that also has a scheduler: the contract, the registry, the selection for a gang.',
    uses: ['preparers', 'api', 'gang', 'gang/rules', 'errors', 'backends/*'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'backends/*',
    purpose:
      "A scheduler: its objects, its rights, its settings, and the reasons it gives. Backends don't know each other.",
    uses: ['api', 'gang', 'gang/rules', 'backends'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'admission',
    purpose:
      'Parses a review, decides on Pods, PodGangs and workloads, and renders the patch or the refusal. No I/O.',
    uses: ['preparers', 'api', 'gang', 'gang/rules', 'backends', 'workloads', 'errors'],
    ways: ['request', 'verb'],
  },
  {
    name: 'kube/client',
    purpose: 'Requests to an API server: transport, kubeconfig, credentials, watch streams.',
    uses: ['api', 'errors'],
    ways: ['event', 'verb'],
  },
  {
    name: 'kube/loop',
    purpose: 'Reflectors, caches, work queues, the Lease, Events. Knows no gangs.',
    uses: ['errors', 'kube/client'],
    ways: ['event'],
  },
  {
    name: 'telemetry',
    purpose: 'The log and the metrics.',
    uses: ['errors'],
    ways: ['request', 'event'],
  },
  {
    name: 'estimators',
    purpose: "Karmada's scheduler estimators, asked over gRPC how much a cluster has left.",
    uses: ['errors'],
    ways: ['event', 'verb'],
  },
  {
    name: 'config',
    purpose: 'OperatorConfiguration: schema, defaults, environment, flags, and what is wrong with it.',
    uses: ['api', 'errors'],
    ways: ['verb'],
  },
  {
    name: 'tls',
    purpose: 'Certificates: loading, checking, renewing, and issuing those of a first installation.',
    uses: ['errors'],
    ways: ['request', 'verb'],
  },
  {
    name: 'controller/*',
    purpose: 'A controller: what it watches, its reconcile by key, and the writes.',
    uses: [
      'controller/watch',
      'preparers',
      'preparers/flux/curve',
      'workloads',
      'api',
      'gang',
      'gang/rules',
      'gang/plan',
      'preemption',
      'fleet/assign',
      'fleet/bindings',
      'fleet/queues',
      'estimators',
      'backends',
      'errors',
      'kube/client',
      'kube/loop',
      'telemetry',
      'tls',
    ],
    ways: ['event'],
  },
  {
    name: 'controller',
    purpose: 'Starts the controllers that the configuration asks for, on shared watches and one Lease.',
    uses: ['preparers', 'api', 'backends', 'kube/client', 'kube/loop', 'controller/*'],
    ways: ['event'],
  },
  {
    name: 'server',
    purpose: 'The HTTPS server: connections, limits, fair queueing, body reading, deadlines, probes.',
    uses: ['api', 'admission', 'errors', 'telemetry', 'config', 'tls'],
    ways: ['request'],
  },
  {
    name: 'modules',
    purpose: "Third parties' backends, preparations and strategies, each in a process of its own.",
    uses: ['preparers', 'api', 'gang', 'gang/rules', 'backends', 'fleet/assign', 'admission', 'errors'],
    ways: ['request', 'event', 'verb'],
  },
  {
    name: 'preview',
    purpose: 'What a dry run is answered about preemption: a process with watches of its own.',
    uses: ['api', 'preemption', 'errors', 'kube/client', 'kube/loop', 'telemetry'],
    ways: ['request'],
  },
  {
    name: 'status',
    purpose: 'How gangs and queues stand, with the reasons in words; what a terminal and a page show.',
    uses: [
      'api',
      'gang',
      'gang/plan',
      'timeline',
      'backends',
      'workloads',
      'preparers',
      'preemption',
      'fleet/assign',
      'fleet/bindings',
      'fleet/queues',
      'kube/client',
      'kube/loop',
      'controller/*',
      'errors',
    ],
    ways: ['verb'],
  },
  {
    name: 'dashboard',
    purpose:
      'A page with what `muster status` shows, on loopback or in a cluster: its server, its rights, its JSON.',
    uses: [
      'backends',
      'timeline',
      'gang/plan',
      'errors',
      'kube/client',
      'kube/loop',
      'controller/watch',
      'status',
      'preemption',
    ],
    ways: ['verb'],
  },
  {
    name: 'dashboard/page',
    purpose: 'What the browser runs: it imports types, and no code but its own and preact.',
    uses: ['dashboard', 'status'],
    ways: ['verb'],
  },
  {
    name: 'conformance',
    purpose:
      'The kit that tries backends, preparations and strategies out with the code that will call them.',
    uses: [
      'api',
      'gang',
      'gang/rules',
      'errors',
      'backends',
      'admission',
      'kube/client',
      'controller/scheduler-objects',
      'kube/loop',
      'preparers',
      'fleet/assign',
    ],
    ways: ['verb'],
  },
  {
    name: 'cli',
    purpose:
      'The command line: a folder a verb, `serve` among them, which composes the server and the controllers.',
    uses: [
      'api',
      'gang',
      'gang/rules',
      'gang/plan',
      'timeline',
      'backends',
      'conformance',
      'preemption',
      'workloads',
      'fleet',
      'fleet/assign',
      'fleet/bindings',
      'estimators',
      'preparers',
      'preparers/flux/curve',
      'preview',
      'modules',
      'admission',
      'errors',
      'kube/client',
      'kube/loop',
      'telemetry',
      'config',
      'tls',
      'controller',
      'controller/*',
      'server',
      'status',
      'dashboard',
    ],
    ways: ['verb'],
  },
  { name: 'main', purpose: 'Arguments in, exit code out.', uses: ['cli'], ways: ['verb'] },
  {
    name: 'index',
    purpose: 'What authors of backends, preparations and strategies import.',
    uses: ['preparers', 'fleet', 'fleet/assign', 'workloads', 'api', 'gang', 'gang/rules', 'backends'],
    ways: [],
  },
];

/** Rooms that only compute: no clock, no file, no socket. */
export const PURE: readonly string[] = [
  ...FOUNDATIONS.map(({ name }) => name),
  'preparers',
  'preemption',
  'workloads',
  'fleet',
  'fleet/assign',
  'fleet/bindings',
  'fleet/queues',
  'api',
  'gang',
  'gang/rules',
  'gang/plan',
  'timeline',
  'admission',
  'errors',
];

/** Packages that one room alone may use. */
export const PACKAGES: readonly { readonly name: RegExp; readonly rooms: readonly string[] }[] = [
  { name: /^node-forge$/, rooms: ['tls'] },
  { name: /^(@kubernetes\/client-node|undici)(\/|$)/, rooms: ['kube/client'] },
  { name: /^fastify/, rooms: ['server', 'dashboard'] },
  { name: /^preact(\/|$)/, rooms: ['dashboard/page'] },
  { name: /^@grpc\//, rooms: ['estimators'] },
];

const USES: ReadonlyMap<string, readonly string[]> = new Map(ROOMS.map(({ name, uses }) => [name, uses]));
const FOUNDATION_NAMES = FOUNDATIONS.map(({ name }) => name);

/** A room of which there are several of a kind, by its kind. */
export const kindOf = (room: string): string => room.replace(/^(backends|controller)\/[^/]+$/, '$1/*');

export const isOnPlan = (room: string): boolean =>
  FOUNDATION_NAMES.includes(room) || USES.has(room) || USES.has(kindOf(room));

export function isAllowed(from: string, to: string): boolean {
  if (from === to) return true;
  const height = FOUNDATION_NAMES.indexOf(from);
  if (height >= 0) return FOUNDATION_NAMES.slice(0, height).includes(to);
  if (FOUNDATION_NAMES.includes(to)) return true;
  const allowed = USES.get(from) ?? USES.get(kindOf(from)) ?? [];
  return allowed.includes(to) || (allowed.includes(kindOf(to)) && kindOf(from) !== kindOf(to));
}
