import { own, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/client/resources.ts';
import type { Rights } from './check-rights.ts';
import type { Right } from './expected-rights.ts';
import { attempt } from './read.ts';

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

/** Asks the API server what `account` may do, or itself where it is that account. */
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

/** Reviews have no name and are not kept; the API server wants their metadata empty. */
const ask = (client: KubeClient, review: Resource, spec: object): Promise<JsonObject> =>
  client.create<JsonObject>(review, { metadata: {} as KubeObject['metadata'], spec });

/** Who asks, and when, by the API server’s clock. */
export const askWho = (client: KubeClient): Promise<JsonObject> => ask(client, WHO_AM_I, {});

async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const answer = await askWho(client);
  return ownString(ownObject(ownObject(answer, 'status'), 'userInfo'), 'username');
}

/** What the API server adds to a service account by itself; a review asks about exactly the groups it is given. */
function groupsOf(account: string): readonly string[] {
  const namespace = account.split(':')[2] ?? '';
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}
