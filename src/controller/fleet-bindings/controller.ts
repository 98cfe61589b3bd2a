import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json/json.ts';
import type { TargetCluster } from '../../fleet/assign/binding.ts';
import type { Estimators, EstimatorSettings } from '../../estimators/estimators.ts';
import { changeMayHelp } from '../../fleet/assign/capacity.ts';
import { readMemberCluster, type Member } from '../../fleet/assign/member.ts';
import { builtInStrategies } from '../../fleet/assign/strategies.ts';
import { FieldReader } from '../../k8s/field-reader.ts';
import { CLUSTERS, type KubeObject } from '../../kube/client/resources.ts';
import { keyOf, type Identified } from '../../kube/loop/cache.ts';
import { Reflector } from '../../kube/loop/reflector.ts';
import { KeyedController } from '../../kube/loop/keyed-controller.ts';
import { FleetMetrics, type EstimateResult } from '../../telemetry/fleet-metrics.ts';
import { watchBindings } from '../watch/binding-watches.ts';
import type { FleetControllerFactory, FleetShared } from '../watch/shared.ts';
import { askEstimates, bindingReconciler } from './reconcile-binding.ts';
import { bindingRecordOf, type BindingRecord } from './binding-record.ts';
import { Members } from './members.ts';

interface ClusterRecord extends Identified {
  readonly member: Member;
}

/** Bindings of one namespace written concurrently; across namespaces twice as many. */
const AT_A_TIME = 5;
/** Interval (ms) at which placements that clusters should have reported by now are no longer counted beside their status. */
const EXPIRE_MS = 5_000;

/**
 * Schedules the bindings whose policy names Muster as their scheduler. A waiting binding is judged again only when a
 * cluster has more capacity for it than before.
 */
export const fleetBindings: FleetControllerFactory = (shared) => {
  const { client, settings, log, metrics, now, recorder, room } = shared;
  const { assigner } = settings;
  if (assigner === undefined) return undefined;
  const counts = new FleetMetrics(metrics.registry);
  const { strategies = builtInStrategies() } = assigner;
  const waiting = new Set<string>();
  let estimators: Estimators | undefined;
  const bindings = watchBindings(shared, (object, resource) =>
    bindingRecordOf(object, resource, assigner.schedulerName),
  );
  const clusters = new Reflector<ClusterRecord>({
    client,
    resource: CLUSTERS,
    trim: (object) => clusterOf(object, (why) => log.error({ cluster: object.metadata.name, why }, UNREAD)),
    observer: shared.observe(CLUSTERS),
  });

  const wakeAll = (): void => {
    for (const { namespace, name } of bindings.all()) controller.add(keyOf(namespace, name));
  };
  const members = new Members((before, after) => {
    if (!controller.leads) return;
    // A changed cluster also affects bindings that do not wait: bindings that go to every cluster, or have to leave
    // this one.
    if (before === undefined || after === undefined || shapeOf(before) !== shapeOf(after)) {
      wakeAll();
      return;
    }
    for (const key of waiting) {
      const record = bindings.get(key);
      if (record === undefined) waiting.delete(key);
      else if (changeMayHelp(record.binding, before, after, strategies)) controller.add(key);
    }
  });
  const controller = new KeyedController({
    name: 'fleet-bindings',
    watches: [...bindings.watches, clusters],
    concurrency: AT_A_TIME,
    begin: () => {
      waiting.clear();
      members.clear();
      for (const record of bindings.all())
        // An earlier leader may have placed the binding so recently that no cluster has reported it.
        if (!record.finished)
          members.remember(record.binding, placedAt(record, now().getTime()), now().getTime());
      const expiry = setInterval(() => members.expire(now().getTime()), EXPIRE_MS);
      const reconcile = bindingReconciler({
        client,
        strategies,
        members,
        recordOf: bindings.get,
        waiting,
        estimates: estimators && askEstimates(members, strategies, estimators),
        now,
        standstill: (namespace) => room.why(namespace),
        observer: {
          judged: () => counts.judged(),
          placed: (record, { clusters: to }) => {
            counts.wrote('placed');
            const result = targetsText(to ?? record.binding.clusters);
            log.info({ binding: record.binding.key, result }, 'a binding was placed');
            recorder.event(record, {
              type: 'Normal',
              reason: 'ScheduleBindingSucceed',
              note: `Binding has been scheduled successfully. Result: {${result}}`,
            });
          },
          held: (record, { reason, message }) => {
            counts.wrote('held');
            log.info({ binding: record.binding.key, reason, why: message }, 'a binding was not placed');
            recorder.event(record, { type: 'Warning', reason: 'ScheduleBindingFailed', note: message });
          },
          standsStill: (record, note) =>
            recorder.event(record, { type: 'Warning', reason: 'ScheduleBindingFailed', note }),
        },
      });
      return {
        reconcile: async (key, over) => {
          const result = await reconcile(key, over);
          counts.waits(waiting.size);
          return result;
        },
        keys: bindings.all().map(({ namespace, name }) => keyOf(namespace, name)),
        end: () => {
          clearInterval(expiry);
          estimators?.end();
        },
      };
    },
    failed: (binding, error, retryInMs) => {
      counts.wrote('error');
      log.error({ binding, err: error, retryInMs }, 'a binding could not be written, trying again');
    },
  });
  bindings.subscribe(({ old, new: record }) => {
    const { namespace, name } = record ?? old;
    const key = keyOf(namespace, name);
    // A finished binding takes no capacity, even if clusters have not reported its end.
    if (record === undefined || record.finished) members.forget(key);
    else if (controller.leads && old?.uid === record.uid)
      members.see(record.binding, old.binding.clusters, now().getTime());
    if (old === undefined || record === undefined || isAnother(old, record)) controller.add(key);
  });
  bindings.onTurn((keys) => {
    for (const key of keys) controller.add(key);
  });
  clusters.subscribe(({ old, new: record }) => {
    if (record === undefined) estimators?.forget(old.name);
    members.report((record ?? old).name, record?.member);
  });

  return {
    name: controller.name,
    watches: controller.watches,
    lead: async (signal) => {
      estimators = assigner.estimators && (await estimatorsAt(assigner.estimators, shared, counts));
      await controller.lead(signal);
    },
  };
};

/** The gRPC library is loaded only when estimators are configured. */
async function estimatorsAt(
  settings: EstimatorSettings,
  { log, now }: Pick<FleetShared, 'log' | 'now'>,
  counts: FleetMetrics,
): Promise<Estimators> {
  const { Estimators } = await import('../../estimators/estimators.ts');
  const observer = {
    asked: (result: EstimateResult) => counts.estimated(result),
    failed: (cluster: string, why: string) =>
      log.error({ cluster, why }, 'an estimator does not answer, and its cluster counts by its own status'),
  };
  return new Estimators(settings, observer, () => now().getTime());
}

/**
 * When the binding was placed; NaN for never. Muster writes the clusters before the status: after a crash in between,
 * the status has no time yet, and `now` is used.
 */
const placedAt = ({ scheduledAt, generation, observedGeneration }: BindingRecord, now: number): number =>
  generation === observedGeneration ? scheduledAt : now;

/** Whether a field changed that scheduling depends on. Status and annotations do not count. */
const isAnother = (old: BindingRecord, now: BindingRecord): boolean =>
  old.uid !== now.uid ||
  old.generation !== now.generation ||
  old.applied !== now.applied ||
  !isDeepStrictEqual([old.binding, old.faults], [now.binding, now.faults]);

const UNREAD = 'a cluster says what cannot be counted, and counts as full';

function clusterOf(object: KubeObject, unread: (why: string) => void): ClusterRecord {
  const reading = new FieldReader(object.metadata.name);
  const member = readMemberCluster(object as unknown as JsonObject, reading);
  const [fault] = reading.faults;
  if (fault !== undefined) unread(`${fault.field}: ${fault.message}`);
  return {
    namespace: '',
    name: object.metadata.name,
    uid: object.metadata.uid ?? '',
    resourceVersion: object.metadata.resourceVersion ?? '',
    member: fault === undefined ? member : { ...member, free: undefined },
  };
}

/** A cluster's fields other than its capacity. */
const shapeOf = ({ labels, provider, region, zones, taints, deleting, kinds }: Member): string =>
  JSON.stringify([[...labels].sort(), provider, region, zones, taints, deleting, [...kinds].sort()]);

/** `m1:3, m2:2`, or by template `m1:[master:1, worker:4]`. */
const targetsText = (clusters: readonly TargetCluster[]): string =>
  clusters
    .map(({ name, replicas, components }) =>
      components === undefined
        ? `${name}:${replicas}`
        : `${name}:[${components.map((one) => `${one.name}:${one.replicas}`).join(', ')}]`,
    )
    .join(', ');
