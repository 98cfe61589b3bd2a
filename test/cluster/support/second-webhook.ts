import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from '../control-plane/client.ts';

/** How somebody else's webhook answers one call: status, headers, and a patch or any body. */
export type Answer = (call: { uid: string; object: unknown; count: number }) => {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly patch?: readonly object[];
  readonly body?: string;
};

export interface SecondWebhook {
  /** Calls of reviews so far. */
  calls(): number;
  close(): Promise<void>;
}

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

/** Another mutating webhook, for new Pods where `on` says nothing else, whose configuration sorts behind Muster's. */
export async function secondWebhook(
  client: Client,
  name: string,
  certificates: string,
  options: { answer: Answer; failurePolicy?: 'Fail' | 'Ignore'; label?: string; on?: object },
): Promise<SecondWebhook> {
  let count = 0;
  const server = createServer(
    {
      cert: await readFile(join(certificates, 'tls.crt')),
      key: await readFile(join(certificates, 'tls.key')),
      keepAliveTimeout: 120_000,
    },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const review = JSON.parse(Buffer.concat(chunks).toString()) as {
          request: { uid: string; object: unknown };
        };
        count += 1;
        const { uid, object } = review.request;
        const { status = 200, headers = {}, patch, body } = options.answer({ uid, object, count });
        const answer = {
          uid,
          allowed: true,
          ...(patch && {
            patchType: 'JSONPatch',
            patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
          }),
        };
        const text =
          body ??
          JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const caBundle = (await readFile(join(certificates, 'ca.crt'))).toString('base64');
  await client.ok('POST', CONFIGURATIONS, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, caBundle },
        rules: [
          options.on ?? {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['pods'],
          },
        ],
        objectSelector: { matchLabels: { [options.label ?? name]: 'yes' } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        reinvocationPolicy: 'IfNeeded',
        failurePolicy: options.failurePolicy ?? 'Fail',
        timeoutSeconds: 5,
      },
    ],
  });
  return {
    calls: () => count,
    close: async () => {
      await client.request('DELETE', `${CONFIGURATIONS}/${name}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
