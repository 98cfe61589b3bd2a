import { isObject, type Json, type JsonObject } from '../../src/json/json.ts';
import { Members } from '../../src/controller/fleet-bindings/members.ts';
import { bindingRecordOf } from '../../src/controller/fleet-bindings/binding-record.ts';
import { verdictOn } from '../../src/controller/fleet-bindings/verdict.ts';
import { BadRequest } from '../../src/errors.ts';
import { readMemberCluster } from '../../src/fleet/assign/member.ts';
import { builtInStrategies } from '../../src/fleet/assign/strategies.ts';
import { viewQueues } from '../../src/fleet/bindings/queue-view.ts';
import { readQueuedBinding } from '../../src/fleet/bindings/queued-binding.ts';
import { interpreterEndpoint } from '../../src/fleet/interpreter-endpoint.ts';
import { statusOf, readQueue } from '../../src/fleet/queues/read-queue.ts';
import { FieldReader } from '../../src/k8s/field-reader.ts';
import { parseHpcPolicy } from '../../src/preparers/policy/hpc-policy.ts';
import { RESOURCE_BINDINGS, type KubeObject } from '../../src/kube/client/resources.ts';
import { workloadKinds } from '../../src/workloads/kinds.ts';
import type { Random } from '../support/random.ts';
import { binding, cluster, context, policy, queue } from './fleet-grammar.ts';
import { spoiltText } from './spoil.ts';
import { inTime, must, mustBeClean, mustBeUnpolluted, type Target, type Trial } from './target.ts';

const STRATEGIES = builtInStrategies();
const NOW = 1_800_000_000_000;

/** What a fleet's API server may hold or send: bindings among clusters and queues, interpreters' contexts, HPCPolicies. */
export const fleets: Target = {
  name: 'fleets',
  share: 100,
  reaches: {
    of: 2_000,
    words: [
      ...['binding Success', 'binding Unschedulable', 'binding NoClusterFit', 'binding SchedulerError'],
      ...['binding of another', 'queues through', 'queues waiting', 'queues held', 'queues fault'],
      ...['context allowed', 'context patched', 'context denied', 'context 400'],
      ...[
        'policy sound',
        'policy HpcPolicyEmpty',
        'policy FieldType',
        'policy HpcManagerUnknown',
        'policy HpcFieldUnknown',
        'policy HpcPolicyTwofold',
      ],
    ],
  },
  open: () => Promise.resolve(openFleets()),
};

/** Lines of JSON: what it is, then its objects. */
const maybe = (value: Json, random: Random): string => {
  const text = JSON.stringify(value);
  return random.chance(60) ? text : spoiltText(text, random, random.chance(70) ? ['spec'] : []);
};

type Kind = 'bindings' | 'context' | 'policy';

/** @param judge of bindings; another one in tests of this target */
export const openFleets = (judge: typeof verdictOn = verdictOn): Trial => ({
  width: 1,
  make: (random) => {
    const kind = random.pick(['bindings', 'bindings', 'context', 'policy'] as const);
    const parts: Readonly<Record<Kind, () => string[]>> = {
      bindings: () => [
        ...['m1', 'm2'].map((name) => maybe(cluster(name, random), random)),
        ...['company', 'team'].map((name) => maybe(queue(name, random), random)),
        ...['b0', 'b1', 'b2'].map((name) => maybe(binding(name, random), random)),
      ],
      context: () => {
        const text = JSON.stringify(context(random));
        return [
          random.chance(50)
            ? text
            : spoiltText(text, random, random.chance(70) ? ['request', 'object', 'spec'] : ['request']),
        ];
      },
      policy: () => [maybe(policy(random), random)],
    };
    return Buffer.from([kind, ...parts[kind]()].join('\n'));
  },
  attempt: async (bytes) => {
    const [kind, ...texts] = bytes.toString().split('\n') as [Kind, ...string[]];
    const values = texts.map((text) => parsed(text));
    const words = await inTime(() => tried[kind](values, judge));
    mustBeUnpolluted();
    return words;
  },
  close: () => Promise.resolve(),
});

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** As the client hands it over: an object with metadata and a name, which no API server leaves out. */
const stored = (value: Json | undefined, name: string): JsonObject => {
  const object = isObject(value) ? value : {};
  const metadata = isObject(object['metadata'] ?? null) ? (object['metadata'] as JsonObject) : {};
  return { ...object, metadata: { ...metadata, name } };
};

const tried: Readonly<Record<Kind, (values: readonly Json[], judge: typeof verdictOn) => string[]>> = {
  bindings: ([one, other, company, team, ...rest], judge) => [
    ...placed([stored(one, 'm1'), stored(other, 'm2')], rest, judge),
    ...queued([stored(company, 'company'), stored(team, 'team')], rest),
  ],
  context: ([body]) => answered(body ?? null),
  policy: ([object]) => {
    const { faults } = parseHpcPolicy(stored(object, 'p'), 'ml', ['mpi']);
    for (const { message, field } of faults) {
      mustBeClean(message, 'a message');
      must(field !== '', 'a fault of no field');
    }
    return faults.length === 0 ? ['policy sound'] : faults.map(({ rule }) => `policy ${rule}`);
  },
};

function placed(
  clusters: readonly JsonObject[],
  bindings: readonly Json[],
  judge: typeof verdictOn,
): string[] {
  const members = new Members(() => undefined);
  for (const [index, object] of clusters.entries()) {
    const name = `m${index + 1}`;
    members.report(name, readMemberCluster(object, new FieldReader(name)));
  }
  return bindings.map((value, index) => {
    const object = stored(value, `b${index}`) as unknown as KubeObject;
    const record = bindingRecordOf(object, RESOURCE_BINDINGS, 'muster');
    if (record === undefined) return 'binding of another';
    const verdict = judge(record, members, STRATEGIES);
    must(
      JSON.stringify(verdict) === JSON.stringify(judge(record, members, STRATEGIES)),
      'the same binding, another verdict',
    );
    mustBeClean(verdict.message, 'a condition');
    for (const { name, replicas } of verdict.clusters ?? []) {
      must(['m1', 'm2'].includes(name), `sent to ${name}, which is no cluster`);
      must(Number.isSafeInteger(replicas) && replicas >= 0, `${replicas} replicas`);
    }
    members.place(record.binding, verdict.clusters ?? [], NOW)();
    return `binding ${verdict.reason}`;
  });
}

function queued(queues: readonly JsonObject[], bindings: readonly Json[]): string[] {
  const records = queues.map((object) => readQueue(object));
  const known = bindings.map((value, index) => readQueuedBinding(stored(value, `b${index}`)));
  const given = { now: NOW, reserveAfterMs: 60_000, most: 100 };
  const view = viewQueues(known, records, given);
  must(
    JSON.stringify(view.standings) === JSON.stringify(viewQueues(known, records, given).standings),
    'another turn',
  );
  for (const { why } of view.standings) mustBeClean(why, 'why it waits');
  for (const gang of view.release)
    must(
      known.some((one) => one.held && one.gang?.key === gang.key),
      'lets go what is not held',
    );
  for (const record of records) {
    const counts = { waiting: 0, through: 0, releasing: [], letThrough: {} };
    const status = statusOf(record, view, counts, new Date(NOW));
    if (record.fault !== undefined) mustBeClean(record.fault, 'a fault');
    for (const { message } of (status?.['conditions'] ?? []) as unknown as { message: string }[])
      mustBeClean(message, 'a condition');
  }
  return [
    ...(view.through.length + view.release.length > 0 ? ['queues through'] : []),
    ...(view.standings.length > 0 ? ['queues waiting'] : []),
    ...(records.some((record) => record.queue.hold && record.fault === undefined) ? ['queues held'] : []),
    ...(records.some(({ fault }) => fault !== undefined) ? ['queues fault'] : []),
  ];
}

function answered(body: Json): string[] {
  const endpoint = interpreterEndpoint(workloadKinds, () => undefined);
  const request = { body, remainingMs: 1_000, entire: () => body };
  try {
    const [first, second] = [endpoint.handle(request), endpoint.handle(request)];
    if (first instanceof Promise || second instanceof Promise) return ['context waits'];
    must(first.body === second.body, 'the same context, another answer');
    const { response } = JSON.parse(first.body) as { response: { status?: { message?: string } } };
    if (response.status?.message !== undefined) mustBeClean(response.status.message, 'a refusal');
    return [`context ${first.outcome}`];
  } catch (thrown) {
    if (thrown instanceof BadRequest) return ['context 400'];
    throw thrown;
  }
}
