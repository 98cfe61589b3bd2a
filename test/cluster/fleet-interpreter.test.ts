/**
 * Karmada's side on a real API server: the configuration that ships is stored as it is, who goes by it reaches Muster under
 * the name that it gives, and what Muster says of a gang is stored in a binding with nothing cut away.
 */
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fleetEndpoints } from '../../src/cli/serve/fleet-loop.ts';
import { loadConfiguration } from '../../src/config/load.ts';
import { createLogger } from '../../src/telemetry/log.ts';
import { issueDevelopmentCertificates } from '../../src/tls/issue.ts';
import { closeAll, start } from '../component/server/running.ts';
import { manifestsIn } from '../support/manifests.ts';
import { contextOf, readAnswer, type Answer, type Question } from '../unit/fleet/karmada-client.ts';
import { plainDirectory } from '../unit/tls/mounted-secret.ts';
import { template, volcanoJob, workload } from '../unit/workloads/made-workloads.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { untilEstablished } from './support/apply.ts';
import { interpreterWebhookConfigurations, resourceBindings } from './support/crds/karmada.ts';

const CONFIGURATIONS = '/apis/config.karmada.io/v1alpha1/resourceinterpreterwebhookconfigurations';
const BINDINGS = '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TEXT =
  'apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\nfleet: { interpreter: true }\n';

interface Hook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly service: { readonly name: string; readonly namespace: string; readonly path: string };
  };
  readonly timeoutSeconds: number;
  readonly rules: readonly Readonly<
    Record<'operations' | 'apiGroups' | 'apiVersions' | 'kinds', readonly string[]>
  >[];
}

clusterSuite('Karmada’s interpreter, configured on a real API server', () => {
  let plane: ControlPlane;
  let port = 0;
  let caBundle = '';

  beforeAll(async () => {
    const issued = await issueDevelopmentCertificates({
      dnsNames: ['muster.muster-system.svc', '127.0.0.1'],
      days: 1,
      now: new Date(),
    });
    caBundle = Buffer.from(issued.caCertificate).toString('base64');
    const certDir = await plainDirectory({
      'tls.crt': issued.certificate,
      'tls.key': issued.key,
      'ca.crt': issued.caCertificate,
    });
    const { configuration } = loadConfiguration({
      text: TEXT,
      env: {},
      flags: {},
      supportedSchedulers: ['default-scheduler'],
    });
    const log = createLogger({ level: 'error', format: 'json' });
    port = (await start({ certDir, endpoints: fleetEndpoints(configuration, log) })).port;
    plane = await startControlPlane();
    for (const one of [interpreterWebhookConfigurations, resourceBindings])
      await plane.client.ok('POST', DEFINITIONS, one);
    await untilEstablished(plane.client, [interpreterWebhookConfigurations, resourceBindings as never]);
  }, 120_000);

  afterAll(async () => {
    await closeAll();
    await plane?.stop();
  });

  /** As Karmada does: the first hook, by the names of configuration and webhook, whose rules have kind and operation. */
  async function hookFor({ operation, object }: Question): Promise<Hook | undefined> {
    const { items } = await plane.client.ok<{ items: { webhooks: Hook[] }[] }>('GET', CONFIGURATIONS);
    const [group = ''] = (object['apiVersion'] as string).split('/');
    const has = (list: readonly string[], one: string): boolean => list.includes('*') || list.includes(one);
    return items
      .flatMap(({ webhooks }) => webhooks)
      .find(({ rules }) =>
        rules.some(
          ({ operations, apiGroups, kinds }) =>
            has(operations, operation) && has(apiGroups, group) && has(kinds, object['kind'] as string),
        ),
      );
  }

  /** Over TLS, by the CA and the name of the configuration alone. undefined where nobody is to be asked. */
  async function ask(
    operation: string,
    object: Question['object'],
    more: Partial<Question> = {},
  ): Promise<Answer | undefined> {
    const question = { operation, object, ...more };
    const hook = await hookFor(question);
    if (hook === undefined) return undefined;
    const { service, caBundle: ca = '' } = hook.clientConfig;
    const servername = `${service.name}.${service.namespace}.svc`;
    const body = await new Promise<string>((resolve, reject) => {
      const call = request(
        {
          ...{ host: '127.0.0.1', port, method: 'POST', servername, agent: false },
          path: `${service.path}?timeout=${hook.timeoutSeconds}s`,
          ca: Buffer.from(ca, 'base64'),
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, */*',
            'user-agent': 'kube-apiserver-admission',
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => {
              if (response.statusCode === undefined || response.statusCode > 206)
                reject(new Error(`status ${response.statusCode ?? 0}`));
              else resolve(Buffer.concat(chunks).toString());
            });
        },
      );
      call.once('error', reject);
      call.end(JSON.stringify(contextOf('u-7', question)));
    });
    return readAnswer('u-7', question, body);
  }

  test('what ships is stored as it is, and names Muster', async () => {
    const [shipped] = (await manifestsIn('karmada')) as unknown as { metadata: object; webhooks: Hook[] }[];
    const webhooks = shipped?.webhooks.map((hook) => ({
      ...hook,
      clientConfig: { ...hook.clientConfig, caBundle },
    }));
    const stored = await plane.client.ok<{ webhooks: Hook[] }>('POST', CONFIGURATIONS, {
      ...shipped,
      webhooks,
    });
    expect(stored.webhooks).toEqual(webhooks);
  });

  const job = volcanoJob({
    minAvailable: 2,
    tasks: [
      { name: 'a-parameter-server-with-quite-a-long-name', template: template({ cpu: '1', memory: '1G' }) },
      {
        name: 'worker',
        replicas: 4,
        template: template(
          { 'nvidia.com/gpu': 4 },
          { nodeSelector: { pool: 'gpu' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] },
        ),
      },
    ],
  });

  test('the components of a gang are stored in a binding, and nothing of them is lost', async () => {
    const components = (await ask('InterpretComponent', job))?.components;
    expect(components).toHaveLength(2);
    const resource = { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', namespace: 'ml', name: 'train' };
    const binding = {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { name: 'train-job' },
      spec: { resource, components },
    };
    const stored = await plane.client.ok<{ spec: { components: unknown } }>('POST', BINDINGS, binding);
    expect(stored.spec.components).toEqual(components);
    // The same without the cut is refused.
    const uncut = components?.map((one, index) => ({
      ...one,
      name: index === 0 ? 'a-parameter-server-with-quite-a-long-name' : one.name,
    }));
    const refused = await plane.client.request('POST', BINDINGS, {
      ...binding,
      metadata: { name: 'uncut' },
      spec: { resource, components: uncut },
    });
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringMatching(/may not be more than 32/),
    ]);
  });

  test('nobody is asked to revise a gang, nor about what Karmada knows better', async () => {
    expect(await ask('ReviseReplica', job)).toBeUndefined();
    expect(await ask('InterpretReplica', workload('apps/v1', 'Deployment', { replicas: 2 }))).toBeUndefined();
  });

  test('status, health, dependencies and what is kept', async () => {
    const observedObject = {
      ...job,
      spec: { ...(job['spec'] as object), minAvailable: 3, queue: 'q' },
      status: { running: 5 },
    };
    expect((await ask('InterpretStatus', observedObject))?.rawStatus).toEqual({ running: 5 });
    expect((await ask('InterpretHealth', observedObject))?.healthy).toBe(true);
    expect((await ask('InterpretDependency', job))?.dependencies).toEqual([]);
    expect((await ask('Retain', job, { observedObject }))?.object).toMatchObject({
      spec: { minAvailable: 3, queue: 'q' },
    });
    const aggregatedStatus = [{ clusterName: 'm1', status: { running: 5 } }];
    expect((await ask('AggregateStatus', job, { aggregatedStatus }))?.object).toMatchObject({
      status: { running: 5 },
    });
  });
});
