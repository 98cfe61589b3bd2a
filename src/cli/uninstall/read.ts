import { MusterError, messageOf } from '../../errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import { listAll } from '../../kube/loop/list-pages.ts';

export interface Where {
  readonly client: KubeClient;
  /** The namespace that Muster is installed in. */
  readonly namespace: string;
}

/** The objects of a kind; none where the cluster does not serve the kind. @throws MusterError CLUSTER_REFUSED */
export async function listedObjects(
  { client }: Pick<Where, 'client'>,
  resource: Resource,
  selection: {
    readonly namespace?: string;
    readonly fieldSelector?: string;
    readonly labelSelector?: string;
  } = {},
): Promise<readonly KubeObject[]> {
  try {
    return await listAll({ client, resource, ...selection }, (object) => object as unknown as KubeObject);
  } catch (error) {
    if (isNotFound(error)) return [];
    if (isForbidden(error)) throw withoutRight(error);
    throw error;
  }
}

/** The error for a right that whoever uninstalls lacks. */
export const withoutRight = (error: unknown): MusterError =>
  new MusterError(
    'CLUSTER_REFUSED',
    messageOf(error),
    'Run it again as somebody who may, such as cluster-admin: what is done already is not done twice.',
    { cause: error },
  );

const NAME = 'app.kubernetes.io/name';
const PART_OF = 'app.kubernetes.io/part-of';
const MUSTER = 'muster';

/**
 * Whether an object is of Muster's installation: by its labels, which kustomize, install.yaml and the chart all write, and by
 * its name, since a label alone could be anybody's.
 */
export const isMusters = ({ metadata: { name, labels = {} } }: KubeObject): boolean =>
  (labels[NAME] === MUSTER || labels[PART_OF] === MUSTER) && hasMustersName(name);

export const hasMustersName = (name: string): boolean => name === MUSTER || name.startsWith(`${MUSTER}-`);

/** Whether a Pod is one of the Deployment's. */
export const isMustersPod = ({ metadata: { labels = {} } }: KubeObject): boolean => labels[NAME] === MUSTER;
