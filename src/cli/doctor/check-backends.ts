import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import type { SchedulerTraces } from '../../backends/backend.ts';
import type { Readiness } from '../../backends/cluster.ts';
import type { LeaseRecord } from '../../kube/loop/lease-record.ts';
import { isFresh } from './check-program.ts';
import { saying, RIGHTS_FIX, valueOf, type Diagnosis, type Read } from './diagnosis.ts';

/** What `init` of a backend found in the cluster. */
export interface Looked {
  readonly name: string;
  readonly readiness: Readiness;
  /** Objects by which the backend's scheduler is recognized; undefined where the backend names none. */
  readonly traces: SchedulerTraces | undefined;
  /** Who preempts for the backend's gangs where preemption.mode is Act. */
  readonly room: 'muster' | 'scheduler' | 'unknown' | 'not-asked' | undefined;
  /** The Lease that the scheduler's leader renews, where the traces name one. */
  readonly lease: Read<LeaseRecord> | undefined;
  /** Whether `init` failed because the user of `muster doctor` lacks a right, which says nothing about Muster. */
  readonly blind: boolean;
}

/** The schedulers of a cluster, and what Muster knows about them. */
export interface Backends {
  readonly now: Date;
  readonly defaultBackend: string;
  readonly enabled: readonly Looked[];
  /** SchedulerBackend objects, in which the loop publishes what it found. */
  readonly published: Read<readonly JsonObject[]>;
  /** Every Deployment of the cluster. */
  readonly deployments: Read<readonly JsonObject[]>;
}

export const checkBackends = (backends: Backends): readonly Diagnosis[] => [
  ...backends.enabled.flatMap((looked) => [
    ...checkReadiness(looked, looked.name === backends.defaultBackend),
    checkScheduler(looked, backends),
    ...checkRoom(looked),
  ]),
  ...checkPublished(backends),
];

function checkReadiness({ name, readiness, blind }: Looked, isDefault: boolean): Diagnosis[] {
  const say = saying('backends', name);
  if (readiness.state === 'unknown') return [say.notChecked('it was not asked', 'look again')];
  if (readiness.state === 'failed' && blind) {
    return [say.notChecked(`what it takes cannot be seen: ${readiness.reason}`, RIGHTS_FIX)];
  }
  if (readiness.state === 'failed') {
    const fix = `install what it names (docs/backends.md), or take ${name} out of scheduler.profiles`;
    return [say.problem(`not ready, its gangs wait: ${readiness.reason}`, fix)];
  }
  const { version, notices = [] } = readiness.facts;
  return [
    say.ok(`ready, speaks ${version}${isDefault ? '; the default' : ''}`),
    ...notices.map((notice) =>
      say.warning(notice, 'docs/backends.md leads to a page about it, with what it takes'),
    ),
  ];
}

/** Reports a gang's scheduler and Muster both preempting: they would evict twice as much. */
function checkRoom({ name, room }: Looked): Diagnosis[] {
  const say = saying('backends', `${name} preempts`);
  switch (room) {
    case undefined:
      return [];
    case 'muster':
      return [say.ok('Muster makes room for its gangs (preemption.mode is Act)')];
    case 'scheduler':
      return [say.ok('its scheduler makes room for its gangs itself: Muster does not')];
    case 'unknown':
      return [say.ok('whether its scheduler makes room for gangs is not known: Muster does not')];
    case 'not-asked':
      return [say.ok('not among preemption.profiles: Muster makes no room for its gangs')];
  }
}

/** Reports whether the scheduler itself runs; its CustomResourceDefinitions may exist without it. */
function checkScheduler({ name, traces, lease }: Looked, { now, deployments }: Backends): Diagnosis {
  const say = saying('backends', `${name} runs`);
  if (lease?.state === 'found') {
    const { holder, renewTime } = lease.value;
    const { namespace, name: scheduler } = traces?.lease ?? { namespace: '', name };
    return holder !== '' && isFresh(lease.value, now)
      ? say.ok(`${scheduler} runs (${holder} holds its Lease)`)
      : say.problem(
          `${scheduler} has not renewed its Lease since ${renewTime || 'ever'}: nothing places Pods`,
          `kubectl -n ${namespace} get pods -l component=${scheduler}, and its log`,
        );
  }
  const unseen = 'see yourself that it runs: Muster knows only what the charts of schedulers call them';
  if (deployments.state === 'unread') return say.notChecked(deployments.reason, RIGHTS_FIX);
  const here = (valueOf(deployments) ?? []).filter((one) => traces?.deployment.test(keyOf(one)) === true);
  if (here.length === 0) return say.notChecked('no Deployment looks like its scheduler', unseen);
  const asleep = here.filter((one) => Number(own(ownObject(one, 'status'), 'readyReplicas') ?? 0) === 0);
  const names = (list: readonly JsonObject[]): string => list.map(keyOf).join(', ');
  return asleep.length === here.length
    ? say.problem(
        `no replica is ready of ${names(asleep)}: nothing places its gangs`,
        `kubectl describe deployment, and the log of ${names(asleep)}`,
      )
    : say.ok(`its scheduler seems to run: ${names(here)}`);
}

const keyOf = (object: JsonObject): string =>
  `${ownString(ownObject(object, 'metadata'), 'namespace') ?? ''}/${objectName(object)}`;

/** Reports where the SchedulerBackend objects differ from what the backends find now. */
function checkPublished({ published, enabled, defaultBackend }: Backends): Diagnosis[] {
  const say = saying('backends', 'published');
  if (published.state === 'unread') return [say.notChecked(published.reason, RIGHTS_FIX)];
  if (published.state === 'absent') return []; // check-definitions.ts reports it
  const findings: Diagnosis[] = [];
  const objects = new Map(published.value.map((one) => [objectName(one), one]));
  for (const { name, readiness, blind } of enabled) {
    const object = objects.get(name);
    const condition = readyOf(object);
    const status = ownString(condition, 'status');
    const loop = 'see that the loop runs with this configuration: kubectl get schedulerbackends';
    if (object === undefined) {
      findings.push(say.warning(`the loop has not said anything of ${name}`, loop));
    } else if (readiness.state === 'ready' && status !== 'True') {
      const why = ownString(condition, 'message') ?? 'no word';
      findings.push(say.problem(`${name} would be ready, and the loop says otherwise: ${why}`, loop));
    } else if (readiness.state === 'failed' && !blind && status === 'True') {
      findings.push(
        say.warning(`the loop has not noticed yet that ${name} is not ready`, 'look again in a minute'),
      );
    }
  }
  const said = [...objects].find(([, one]) => own(ownObject(one, 'status'), 'default') === true)?.[0];
  if (said !== undefined && said !== defaultBackend) {
    findings.push(
      say.problem(
        `the loop takes ${said} for the default, the configuration ${defaultBackend}`,
        'roll the Deployment: Muster reads its configuration at start; or give the one it runs with as --config',
      ),
    );
  }
  const known = new Set(enabled.map(({ name }) => name));
  for (const name of objects.keys()) {
    if (known.has(name)) continue;
    const fix = `kubectl delete schedulerbackend ${name}, once no gang is left that it prepared`;
    findings.push(say.warning(`${name} was enabled once and no longer is: gangs that name it wait`, fix));
  }
  return findings.length > 0 ? findings : [say.ok('kubectl get schedulerbackends shows the same')];
}

const readyOf = (object: JsonObject | undefined): JsonObject | undefined =>
  (ownList(ownObject(object, 'status'), 'conditions') ?? []).find(
    (condition) => ownString(condition, 'type') === 'SchedulerBackendReady',
  ) as JsonObject | undefined;
