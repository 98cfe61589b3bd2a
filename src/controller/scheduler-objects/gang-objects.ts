import { ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_MUSTER, POD_GANG_KIND } from '../../api/names.ts';
import type { Resource } from '../../k8s/resource.ts';
import type { Applied, OwnedObject } from '../../backends/cluster.ts';
import { MusterError } from '../../errors.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, type KubeObject, type Target } from '../../kube/client/resources.ts';
import { StillThere } from '../watch/shared.ts';
import { controllerRefOf, ownerReference, ownerReferencesOf, type OwnedObjects } from './owned-objects.ts';
import { ANNOTATION_APPLIED, bodyOf, ownedPatch, recordOf } from './owned-patch.ts';

/** The API calls that the objects of a gang need. */
type Client = Pick<KubeClient, 'get' | 'create' | 'mergePatch' | 'delete'>;

/** The cached objects, and the wrapper that marks Muster's own writes. */
export type KnownObjects = Pick<OwnedObjects, 'get'> & Partial<Pick<OwnedObjects, 'writing'>>;

/** Writes the objects of one gang, or cluster-wide objects when there is no gang. */
export class GangObjects {
  readonly #client: Client;
  readonly #known: KnownObjects;
  readonly #gang: Pick<GangRecord, 'namespace' | 'name' | 'uid'> | undefined;
  readonly #signal: AbortSignal;

  constructor(
    client: Client,
    known: KnownObjects,
    gang: Pick<GangRecord, 'namespace' | 'name' | 'uid'> | undefined,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.#known = known;
    this.#gang = gang;
    this.#signal = signal;
  }

  /**
   * Creates or patches an object. The cache may be outdated, so after a 409 or 404 the object is read and compared once
   * more.
   * @throws MusterError BACKEND_OBJECT_FOREIGN, {@link StillThere}, ApiError
   */
  async apply(wanted: OwnedObject): Promise<Applied> {
    this.#signal.throwIfAborted();
    if (wanted.once === true) return this.#create(wanted);
    const known =
      this.#gang === undefined
        ? await this.#read(wanted.resource, wanted.name)
        : this.#known.get(wanted.resource, this.#namespace(wanted.resource), wanted.name);
    try {
      return known === undefined ? await this.#create(wanted) : await this.#update(known, wanted);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      if (isNotFound(error) && known === undefined) throw error;
      const fresh = await this.#read(wanted.resource, wanted.name);
      return fresh === undefined ? this.#create(wanted) : this.#update(fresh, wanted);
    }
  }

  /**
   * Deletes an object of this gang; an object that does not exist or is not the gang's is left alone.
   * @param despite finalizers that must not keep the object
   */
  async remove(resource: Resource, name: string, despite: readonly string[] = []): Promise<void> {
    this.#signal.throwIfAborted();
    const known =
      this.#known.get(resource, this.#namespace(resource), name) ?? (await this.#read(resource, name));
    if (known === undefined || !this.#isOurs(known)) return;
    const uid = ownString(ownObject(known, 'metadata'), 'uid');
    try {
      await this.#client.delete(this.#target(resource, name), {
        signal: this.#signal,
        propagationPolicy: 'Background',
        preconditions: uid === undefined ? {} : { uid },
      });
      if (despite.length > 0) await this.#letGo(this.#target(resource, name), uid, despite);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  /**
   * Removes these finalizers from an object that is being deleted, if its PodGang still exists. When the PodGang is
   * gone, the garbage collector deletes its objects, possibly before the watch shows that; the finalizers then wait for
   * the Pods that name the object.
   */
  async #letGo(target: Target, uid: string | undefined, despite: readonly string[]): Promise<void> {
    const metadata = ownObject(await this.#read(target.resource, target.name), 'metadata');
    if (metadata === undefined || ownString(metadata, 'uid') !== uid) return;
    const all = ownList(metadata, 'finalizers') ?? [];
    const finalizers = all.filter((finalizer) => !despite.some((one) => one === finalizer));
    if (finalizers.length === all.length) return;
    if (this.#gang !== undefined) {
      const gang = await this.#read(POD_GANGS, this.#gang.name);
      if (ownString(ownObject(gang, 'metadata'), 'uid') !== this.#gang.uid) return;
    }
    const patch = { metadata: { resourceVersion: ownString(metadata, 'resourceVersion'), finalizers } };
    await this.#client.mergePatch(target, patch, { signal: this.#signal, answer: 'metadata' });
  }

  async #create(wanted: OwnedObject): Promise<Applied> {
    const { resource, name, labels, annotations, spec } = wanted;
    const body = bodyOf(wanted);
    const object = {
      metadata: {
        name,
        ...(resource.namespaced && { namespace: this.#namespace(resource) }),
        labels: { ...labels, [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER },
        annotations: { ...annotations, [ANNOTATION_APPLIED]: wanted.once === true ? '{}' : recordOf(wanted) },
        ...(this.#gang && { ownerReferences: [ownerReference(this.#gang)] }),
      },
      ...body,
      // An object of a kind with `body` has no spec at all.
      ...((wanted.body === undefined || Object.keys(spec).length > 0) && { spec }),
    } satisfies KubeObject;
    try {
      const options = { signal: this.#signal, answer: 'metadata' } as const;
      await this.#written(resource, name, () => this.#client.create(resource, object, options), object);
      return 'created';
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      // Objects with `once` are only created and never read, so no right to read them is needed.
      if (wanted.once === true) return 'unchanged';
      // The cache does not have the object: it is somebody else's, or Muster's and newer than the cache.
      const found = await this.#read(resource, name);
      if (found === undefined) throw error;
      return this.#update(found, wanted);
    }
  }

  async #update(live: JsonObject, wanted: OwnedObject): Promise<Applied> {
    const { kind } = wanted.resource;
    const metadata = ownObject(live, 'metadata');
    if (!this.#isOurs(live)) {
      await this.#clearAway(live, wanted);
      throw this.#notOurs(live, wanted);
    }
    if (ownString(metadata, 'deletionTimestamp') !== undefined) {
      throw new StillThere(`${kind} ${wanted.name} is being deleted: it is made anew once it is gone`);
    }
    const labelled = ownString(ownObject(metadata, 'labels'), LABEL_MANAGED_BY) === MANAGED_BY_MUSTER;
    const labels = labelled ? wanted.labels : { ...wanted.labels, [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER };
    const patch = ownedPatch(live, { ...wanted, labels: labels ?? {} });
    const adopted = this.#gang !== undefined && controllerRefOf(live) === undefined;
    if (patch === undefined && !adopted) return 'unchanged';
    const conditional = {
      ...patch,
      metadata: {
        ...ownObject(patch, 'metadata'),
        ...(adopted && { ownerReferences: [...ownerReferencesOf(live), ownerReference(this.#gang)] }),
        resourceVersion: ownString(metadata, 'resourceVersion'),
      },
    };
    const target = this.#target(wanted.resource, wanted.name);
    await this.#written(wanted.resource, wanted.name, () =>
      this.#client.mergePatch(target, conditional, { signal: this.#signal, answer: 'metadata' }),
    );
    return 'updated';
  }

  /**
   * Deletes the object of an earlier PodGang of this name; names are unique, so its owner is certainly gone. The
   * garbage collector would delete it too, but takes half a minute when the CRD of PodGangs is new to it.
   */
  async #clearAway(live: JsonObject, { resource, name, despite = [] }: OwnedObject): Promise<void> {
    const metadata = ownObject(live, 'metadata');
    const label = ownString(ownObject(metadata, 'labels'), LABEL_MANAGED_BY);
    if (!this.#isPredecessors(live) || label !== MANAGED_BY_MUSTER) return;
    const uid = ownString(metadata, 'uid');
    const target = this.#target(resource, name);
    try {
      if (ownString(metadata, 'deletionTimestamp') === undefined) {
        await this.#client.delete(target, {
          signal: this.#signal,
          preconditions: uid === undefined ? {} : { uid },
        });
      }
      // The new Pods may name the object already, and its finalizer would then keep it for ever.
      if (despite.length > 0) await this.#letGo(target, uid, despite);
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error) && !isForbidden(error)) throw error;
    }
  }

  #isPredecessors(live: JsonObject): boolean {
    const owner = controllerRefOf(live);
    return this.#gang !== undefined && owner?.kind === POD_GANG_KIND && owner.name === this.#gang.name;
  }

  /**
   * Whether the gang controls the object. An object without a controller counts as the gang's if Muster provably made
   * it: its owner reference was removed, or an earlier gang of that name left it behind.
   */
  #isOurs(live: JsonObject): boolean {
    const metadata = ownObject(live, 'metadata');
    const labelled = ownString(ownObject(metadata, 'labels'), LABEL_MANAGED_BY) === MANAGED_BY_MUSTER;
    if (this.#gang === undefined) return labelled;
    const owner = controllerRefOf(live);
    if (owner !== undefined) return owner.uid === this.#gang.uid;
    return labelled && ownString(ownObject(metadata, 'annotations'), ANNOTATION_APPLIED) !== undefined;
  }

  async #written(
    resource: Resource,
    name: string,
    write: () => Promise<KubeObject>,
    created?: KubeObject,
  ): Promise<void> {
    if (this.#known.writing === undefined) await write();
    else await this.#known.writing(this.#target(resource, name), write, created);
  }

  #notOurs(live: JsonObject, { resource: { kind }, name }: OwnedObject): Error {
    const owner = controllerRefOf(live);
    if (this.#isPredecessors(live)) {
      const [kept] = ownList(ownObject(live, 'metadata'), 'finalizers') ?? [];
      const because = typeof kept !== 'string' ? '' : `, which Pods that name it keep it from (${kept})`;
      return new StillThere(
        `${kind} ${name} is of an earlier PodGang of that name: waiting for it to go${because}`,
      );
    }
    const whose = owner === undefined ? 'has no controller' : `belongs to ${owner.kind} ${owner.name}`;
    const ours = this.#gang === undefined ? 'Muster' : `PodGang ${this.#gang.name}`;
    return new MusterError(
      'BACKEND_OBJECT_FOREIGN',
      `${kind} ${name} exists and ${whose}, so ${ours} cannot have it`,
      `delete or rename that ${kind}, or give the PodGang another name`,
    );
  }

  async #read(resource: Resource, name: string): Promise<JsonObject | undefined> {
    try {
      return await this.#client.get<JsonObject>(this.#target(resource, name), { signal: this.#signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #namespace(resource: Resource): string {
    return resource.namespaced ? (this.#gang?.namespace ?? '') : '';
  }

  #target(resource: Resource, name: string): Target {
    return { resource, name, ...(resource.namespaced && { namespace: this.#namespace(resource) }) };
  }
}
