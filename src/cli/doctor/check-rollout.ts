import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { saying, type Diagnosis } from './diagnosis.ts';

/** A rollout takes a minute for each replica that drains. */
const LONG_MS = 10 * 60 * 1000;

/** Whether the Pods of the Deployment are those that it asks for: old ones that stay hide that new ones do not start. */
export function checkRollout(deployment: JsonObject, namespace: string, now: Date): Diagnosis[] {
  const say = saying('program', 'rollout');
  const status = ownObject(deployment, 'status');
  const undo = [`kubectl -n ${namespace} rollout undo deployment/muster`];
  const look = `kubectl -n ${namespace} describe pods: their Events say why; or go back to what ran before`;
  const condition = (type: string): JsonObject | undefined =>
    (ownList(status, 'conditions') ?? []).find((one) => ownString(one, 'type') === type) as
      JsonObject | undefined;
  const failure = condition('ReplicaFailure');
  if (ownString(failure, 'status') === 'True') {
    const found = `Pods of the Deployment are not created: ${ownString(failure, 'message') ?? 'no word'}`;
    return [say.problem(found, `mend what the message names; a quota or a policy of ${namespace} mostly`)];
  }
  const number = (key: string): number | undefined => {
    const value = own(status, key);
    return typeof value === 'number' ? value : undefined;
  };
  const [replicas, updated] = [number('replicas'), number('updatedReplicas') ?? 0];
  const progress = condition('Progressing');
  const since = Date.parse(ownString(progress, 'lastUpdateTime') ?? '');
  const count = `${updated} of ${replicas ?? 0} replicas are of the present template`;
  if (ownString(progress, 'status') === 'False') {
    const found = `the rollout is stuck: ${count} (${ownString(progress, 'message') ?? 'no word'})`;
    return [{ ...say.problem(found, look), commands: undo }];
  }
  const generation = own(own(deployment, 'metadata'), 'generation');
  const observed = number('observedGeneration');
  if (observed !== undefined && typeof generation === 'number' && observed < generation) {
    const found = `the Deployment has changed (generation ${generation}), and nobody has taken it up (${observed})`;
    return [
      say.warning(
        found,
        'look again; if it stays: kubectl -n kube-system get pods, for kube-controller-manager',
      ),
    ];
  }
  if (replicas === undefined || updated >= replicas) return [];
  return now.getTime() - since > LONG_MS
    ? [{ ...say.problem(`the rollout does not get on: ${count}`, look), commands: undo }]
    : [say.ok(`a rollout is under way: ${count}`)];
}
