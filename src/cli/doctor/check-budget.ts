import { own, ownObject, type Json, type JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { patchCommand } from './commands.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import { valueOf, type Read } from './read.ts';

/** Whether a drain takes one replica after the other: none would stop it, all would stop gangs. */
export function checkBudget(budget: Read<JsonObject>, deployment: JsonObject): Diagnosis[] {
  const object = valueOf(budget);
  if (object === undefined) return []; // told with what is installed
  const say = saying('program', 'budget');
  const spec = ownObject(object, 'spec');
  const replicas = Number(own(ownObject(deployment, 'spec'), 'replicas') ?? 1);
  const least = countOf(own(spec, 'minAvailable'), replicas);
  const most = countOf(own(spec, 'maxUnavailable'), replicas) ?? replicas - (least ?? 0);
  const name = `PodDisruptionBudget ${objectName(object)}`;
  const commands =
    least === undefined || replicas < 2
      ? {}
      : {
          commands: [
            patchCommand(object, [{ op: 'replace', path: '/spec/minAvailable', value: replicas - 1 }]),
          ],
        };
  const fix = `leave one of ${replicas} replicas to a drain: minAvailable ${Math.max(replicas - 1, 0)}`;
  if (most <= 0) {
    const found = `${name} lets no replica of ${replicas} go: nodes with one cannot be drained`;
    return [{ ...say.problem(found, fix), ...commands }];
  }
  if (most < replicas || replicas < 2) return [];
  const found = `${name} lets all ${replicas} replicas go at once: gangs cannot be created while a drain lasts`;
  return [{ ...say.problem(found, fix), ...commands }];
}

/** `2`, or `50%` of the replicas: Kubernetes rounds up. */
function countOf(value: Json | undefined, replicas: number): number | undefined {
  if (typeof value === 'number') return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : Math.ceil((Number(percent) * replicas) / 100);
}
