import { isObject, own, ownString, type Json, type JsonObject } from '../../api/json.ts';
import { podFromTemplate } from '../../workloads/pod-from-template.ts';
import { podTemplatesOf } from '../../workloads/pod-templates.ts';
import { readObjects } from '../input/documents.ts';
import { unreadable, type InputFault } from '../input/input-fault.ts';
import { readInputs } from '../input/input-files.ts';
import { itemsOf, needed } from '../input/list-items.ts';
import type { CliIo } from '../output/io.ts';

/**
 * All objects of the files, lists taken apart. A file that is JSON as a whole, as `kubectl get -o json` writes it, is
 * read by the engine: a snapshot of a large cluster has hundreds of megabytes, and the reader of YAML keeps a tree of
 * all of it.
 * @throws MusterError INPUT_UNREADABLE
 */
export async function objectsOf(
  paths: readonly string[],
  io: Pick<CliIo, 'readStdin'>,
): Promise<JsonObject[]> {
  const faults: InputFault[] = [];
  const objects: JsonObject[] = [];
  for await (const input of readInputs(paths, io, (fault) => faults.push(fault))) {
    const whole = /^\s*\{/.test(input.text) ? parsed(input.text) : undefined;
    const strange = (path: string, item: Json): void =>
      void faults.push({
        file: input.name,
        line: 0,
        column: 0,
        message: needed(item, path),
        fix: 'take the snapshot again, or correct this item',
      });
    const found =
      whole === undefined ? readObjects(input, (fault) => faults.push(fault)) : itemsOf(whole, strange);
    for (const { object } of found) objects.push(object);
  }
  if (faults.length > 0) throw unreadable(faults);
  return objects;
}

/** undefined where it is no JSON: then the reader of YAML says where and why. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** More Pods of one workload than this is a slip of the pen. */
const MOST_PODS = 10_000;

/** The Pods of an object that are still to be made: itself, or those of its templates, numbered. */
export function podsOf(object: JsonObject, namespace: string): JsonObject[] {
  if (ownString(object, 'kind') === 'Pod') return [object];
  const metadata = own(object, 'metadata');
  const name = ownString(metadata, 'name') ?? ownString(metadata, 'generateName') ?? '';
  const owner = { name, namespace: ownString(metadata, 'namespace') || namespace };
  let number = 0;
  return podTemplatesOf(object).flatMap(({ template, pods = 1 }) => {
    const pod = podFromTemplate(template, owner);
    return Array.from({ length: Math.min(pods, MOST_PODS) }, () => {
      const named = { ...(own(pod, 'metadata') as JsonObject), name: `${name}-${number}` };
      number += 1;
      return { ...pod, metadata: named };
    });
  });
}
