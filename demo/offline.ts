import patches from 'fast-json-patch';
import { admissionWebhooks } from '../src/admission/endpoints.ts';
import { forScheduler, mistakes, NAMESPACE, pod, podGang, preparedParts, type Manifest } from './objects.ts';
import type { Narrator } from './narrator.ts';
import { post } from './post.ts';
import type { Serving } from './serving.ts';

interface Answer {
  allowed: boolean;
  patch?: string;
  warnings?: string[];
  status?: { message: string; code: number };
}

/** What an API server does with a created object: mutate, apply the patch, validate. Over TLS, to the real server. */
async function create(serving: Serving, manifest: Manifest): Promise<{ stored: Manifest; answer: Answer }> {
  const kind = manifest['kind'] as string;
  let stored = structuredClone(manifest);
  let answer: Answer = { allowed: true };
  for (const verb of ['mutate', 'validate'] as const) {
    const endpoint = admissionWebhooks.find((entry) => entry.verb === verb && entry.kind?.kind === kind);
    if (endpoint === undefined) continue;
    const review = {
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: `${kind}-${verb}`,
        kind: endpoint.kind,
        resource: { ...endpoint.kind, kind: undefined, resource: endpoint.resource },
        operation: 'CREATE',
        name: manifest.metadata['name'],
        namespace: NAMESPACE,
        userInfo: { username: 'alice', groups: ['system:authenticated'] },
        object: stored,
        oldObject: null,
        dryRun: true,
      },
    };
    const { response: next } = JSON.parse(await post(serving, endpoint.path, review)) as { response: Answer };
    answer = { ...next, warnings: [...(answer.warnings ?? []), ...(next.warnings ?? [])] };
    if (!answer.allowed) break;
    if (next.patch !== undefined) {
      const operations = JSON.parse(Buffer.from(next.patch, 'base64').toString()) as never[];
      stored = patches.applyPatch(stored, operations, true).newDocument;
    }
  }
  return { stored, answer };
}

/** The demo without a control plane: the real HTTPS server, and reviews sent to it directly. */
export async function offlineDemo(serving: Serving, tell: Narrator): Promise<void> {
  tell.scene('A PodGang, and Pods for two schedulers');
  for (const manifest of [
    podGang(),
    pod('leader-0', 'leader'),
    forScheduler('worker-0', 'worker', 'kai-scheduler'),
  ]) {
    tell.say(`${manifest['kind'] as string} ${manifest.metadata['name'] as string}`);
    const { stored, answer } = await create(serving, manifest);
    if (manifest['kind'] === 'Pod') tell.output(preparedParts(manifest, stored));
    for (const warning of answer.warnings ?? []) tell.output(`Warning: ${warning}`);
    tell.check('it is allowed', answer.allowed);
    const again = await create(serving, stored);
    tell.check(
      'admitting the result again changes nothing',
      JSON.stringify(again.stored) === JSON.stringify(stored),
    );
  }
  tell.scene('Mistakes are refused with what is wrong, the rule, and the way out');
  for (const { title, manifest, says } of mistakes) {
    const { answer } = await create(serving, manifest);
    tell.say(`${title}:`);
    tell.output(`Error (${answer.status?.code ?? 200}): ${answer.status?.message ?? 'it was allowed'}`);
    tell.check('refused', !answer.allowed && (answer.status?.message.includes(says) ?? false));
  }
}
