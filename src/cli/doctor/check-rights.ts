import type { Right } from './expected-rights.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import type { Read } from './read.ts';

/** What the API server says that Muster's account may do. */
export interface Rights {
  /** `system:serviceaccount:…` */
  readonly account: string;
  readonly asked: Read<readonly { readonly right: Right; readonly allowed: boolean }[]>;
}

const APPLY =
  'kubectl apply -k manifests/base; the roles for a backend are in manifests/components, that for workloads[] in docs/workloads.md';

/** @param fix what gives the rights */
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
