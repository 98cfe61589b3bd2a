import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import jsonPatch, { type Operation } from 'fast-json-patch';
import { parse, parseAllDocuments } from 'yaml';
import { isObject, ownObject, ownString, type JsonObject } from '../../../json/json.ts';
import { objectName } from '../../../k8s/resource.ts';

/** The part of kustomization.yaml that Muster's manifests use. A test compares the result with `kubectl kustomize`. */
export interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly target?: PatchTarget; readonly patch: string }[];
  readonly labels?: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  readonly configMapGenerator?: readonly {
    readonly name: string;
    readonly namespace?: string;
    readonly files: readonly string[];
  }[];
  readonly images?: readonly { readonly name: string; readonly newName: string; readonly newTag: string }[];
}

/** The target of a patch; both are regular expressions that match the whole value. */
export interface PatchTarget {
  readonly kind: string;
  readonly name: string;
}

export const readKustomization = (folder: string): Kustomization =>
  parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;

/**
 * The objects of a folder of manifests with these components; generated ConfigMaps lack the hash at the end of their names.
 * @param components folders of components that an overlay over this folder names
 * @param before objects that the component patches or adds to, where the folder is a component
 */
export function kustomized(
  folder: string,
  components: readonly string[] = [],
  before: readonly JsonObject[] = [],
): readonly JsonObject[] {
  const given = readKustomization(folder);
  let objects = [...before, ...(given.resources ?? []).flatMap((name) => objectsAt(join(folder, name)))];
  for (const name of given.components ?? []) objects = [...kustomized(join(folder, name), [], objects)];
  for (const { name, namespace, files } of given.configMapGenerator ?? []) {
    const data = Object.fromEntries(
      files.map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const),
    );
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    objects.push({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }
  for (const patch of given.patches ?? []) objects = patched(objects, patch);
  for (const { pairs } of given.labels ?? []) objects = objects.map((object) => labelled(object, pairs));
  for (const image of given.images ?? []) {
    // Only a value that equals the image's name is replaced: the name is also a word in other values.
    objects = objects.map((object) => withImage(object, image.name, `${image.newName}:${image.newTag}`));
  }
  for (const component of components) objects = [...kustomized(component, [], objects)];
  return objects;
}

/** Files by path: overlays share them, and parsing them takes longer than anything else here. */
const read = new Map<string, readonly JsonObject[]>();

function objectsAt(path: string): readonly JsonObject[] {
  if (statSync(path).isDirectory()) return kustomized(path);
  const known = read.get(path);
  if (known !== undefined) return known;
  const objects = parseAllDocuments(readFileSync(path, 'utf8')).flatMap((document) => {
    const object = document.toJS() as JsonObject | null;
    return object === null ? [] : [object];
  });
  read.set(path, objects);
  return objects;
}

/** Whether a patch applies to this object. */
export const isTarget = ({ kind, name }: PatchTarget, object: JsonObject): boolean =>
  new RegExp(`^(?:${kind})$`).test(ownString(object, 'kind') ?? '') &&
  new RegExp(`^(?:${name})$`).test(objectName(object));

/** The operations of a patch (RFC 6902); a patch that deletes an object has none. */
export const operationsOf = (patch: string): readonly Operation[] => {
  const operations = parse(patch) as readonly Operation[] | JsonObject;
  return Array.isArray(operations) ? (operations as readonly Operation[]) : [];
};

function patched(
  objects: readonly JsonObject[],
  { target, patch }: { readonly target?: PatchTarget; readonly patch: string },
): JsonObject[] {
  if (target !== undefined) {
    return objects.map((object) =>
      isTarget(target, object)
        ? withoutEmptyAnnotations(
            jsonPatch.applyPatch(structuredClone(object), operationsOf(patch), true).newDocument,
          )
        : object,
    );
  }
  const gone = parse(patch) as JsonObject;
  if (gone['$patch'] !== 'delete') throw new Error(`a patch without a target only deletes here: ${patch}`);
  return objects.filter(
    (object) => object['kind'] !== gone['kind'] || objectName(object) !== objectName(gone),
  );
}

/** As kubectl prints it, which leaves out annotations of which a patch has removed the last. */
function withoutEmptyAnnotations(object: JsonObject): JsonObject {
  const { annotations, ...metadata } = ownObject(object, 'metadata') ?? {};
  return isObject(annotations) && Object.keys(annotations).length === 0 ? { ...object, metadata } : object;
}

function labelled(object: JsonObject, pairs: Readonly<Record<string, string>>): JsonObject {
  const metadata = ownObject(object, 'metadata');
  return { ...object, metadata: { ...metadata, labels: { ...ownObject(metadata, 'labels'), ...pairs } } };
}

const withImage = (object: JsonObject, name: string, image: string): JsonObject =>
  JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    key === 'image' && value === name ? image : value,
  ) as JsonObject;
