import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import type { Right } from './expected-rights.ts';
import { attempt, saying, type Read, type Diagnosis } from './diagnosis.ts';

const reviewOf = (group: string, kind: string): Resource => ({
  group,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: false,
});
const OF_ANYBODY = reviewOf('authorization.k8s.io', 'SubjectAccessReview');
const OF_ONESELF = reviewOf('authorization.k8s.io', 'SelfSubjectAccessReview');
const WHO_AM_I = reviewOf('authentication.k8s.io', 'SelfSubjectReview');

/**
 * Asks the API server what `account` may do; by SelfSubjectAccessReviews where the doctor runs as `account` and may not ask
 * about others.
 */
export async function readRights(
  client: KubeClient,
  account: string,
  rights: readonly Right[],
): Promise<Rights> {
  const subject = { user: account, groups: groupsOf(account) };
  const asked = await attempt(async () => {
    try {
      return await askAll(client, OF_ANYBODY, rights, subject);
    } catch (error) {
      if (!isForbidden(error) || (await whoAmI(client)) !== account) throw error;
      return askAll(client, OF_ONESELF, rights, {});
    }
  });
  return { account, asked };
}

const askAll = (client: KubeClient, review: Resource, rights: readonly Right[], subject: object) =>
  Promise.all(
    rights.map(async (right) => {
      const [resource, subresource] = right.resource.split('/');
      const resourceAttributes = {
        group: right.group,
        resource,
        subresource,
        verb: right.verb,
        namespace: right.namespace,
        name: right.object,
      };
      const answer = await ask(client, review, { ...subject, resourceAttributes });
      return { right, allowed: own(ownObject(answer, 'status'), 'allowed') === true };
    }),
  );

/** Creates a review. Reviews are not stored, and the API server wants their metadata empty. */
const ask = (client: KubeClient, review: Resource, spec: object): Promise<JsonObject> =>
  client.create<JsonObject>(review, { metadata: {} as KubeObject['metadata'], spec });

/** The doctor's own user, with the API server’s time. */
export const askWho = (client: KubeClient): Promise<JsonObject> => ask(client, WHO_AM_I, {});

async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const answer = await askWho(client);
  return ownString(ownObject(ownObject(answer, 'status'), 'userInfo'), 'username');
}

/** Groups that the API server adds to a service account by itself; a SubjectAccessReview names them all. */
function groupsOf(account: string): readonly string[] {
  const namespace = account.split(':')[2] ?? '';
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}

/** The API server's answers about the rights of Muster's account. */
export interface Rights {
  /** User name of the account, `system:serviceaccount:…`. */
  readonly account: string;
  readonly asked: Read<readonly { readonly right: Right; readonly allowed: boolean }[]>;
}

const APPLY =
  'kubectl apply -k manifests/base; the roles for backends and settings are in manifests/components, that for workloads[] in docs/workloads.md';

/** Reports missing rights. @param fix the command that grants the rights */
export function checkRights({ account, asked }: Rights, fix = APPLY): readonly Diagnosis[] {
  const say = saying('rights', 'account');
  if (asked.state !== 'found') {
    const reason = asked.state === 'unread' ? asked.reason : 'the API server has no SubjectAccessReview';
    return [
      say.notChecked(
        `what ${account} may do: ${reason}`,
        'run it as somebody who may create subjectaccessreviews, such as cluster-admin, or as this account',
      ),
    ];
  }
  const missing = new Map<string, string[]>();
  for (const { right, allowed } of asked.value) {
    if (!allowed) missing.getOrInsert(nameOf(right), []).push(right.verb);
  }
  if (missing.size === 0) return [say.ok(`${account} has the ${asked.value.length} rights that it needs`)];
  return [...missing].map(([what, verbs]) =>
    say.problem(`${account} may not ${verbs.join(', ')} ${what}`, fix),
  );
}

function nameOf({ group, resource, namespace, object }: Right): string {
  const kind = group === '' ? resource : `${resource}.${group}`;
  const one = object === undefined ? kind : `${kind} ${object}`;
  return namespace === undefined ? one : `${one} in ${namespace}`;
}
