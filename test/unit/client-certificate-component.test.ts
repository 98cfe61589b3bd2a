import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import jsonPatch, { type Operation } from 'fast-json-patch';
import { parse } from 'yaml';
import { supportedSchedulers } from '../../src/backends/registry.ts';
import { loadConfiguration } from '../../src/config/load.ts';

const manifest = async (path: string): Promise<unknown> =>
  parse(await readFile(join(import.meta.dirname, '../../manifests', path), 'utf8'));

interface Deployment {
  spec: {
    template: {
      spec: {
        containers: {
          env: { name: string; value?: string }[];
          volumeMounts: { name: string; mountPath: string }[];
        }[];
        volumes: { name: string; secret?: { secretName: string; items?: { key: string; path: string }[] } }[];
      };
    };
  };
}

const { applyPatch } = jsonPatch;

test('with the component a certificate is asked for, of the CA that it mounts', async () => {
  const component = (await manifest('components/client-certificate/kustomization.yaml')) as {
    patches: { target: { kind: string; name: string }; patch: string }[];
  };
  const [patch, ...others] = component.patches;
  expect([patch?.target, others]).toEqual([{ kind: 'Deployment', name: 'muster' }, []]);
  const base = (await manifest('base/deployment.yaml')) as Deployment;
  const { newDocument } = applyPatch(base, parse(patch?.patch ?? '') as Operation[], true);
  const [container] = newDocument.spec.template.spec.containers;
  const env = Object.fromEntries(
    (container?.env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
  const { configuration } = loadConfiguration({
    env,
    flags: {},
    supportedSchedulers: supportedSchedulers().names,
  });
  const caFile = configuration.server.webhooks.clientCertificate?.caFile ?? '';
  const mount = container?.volumeMounts.find(({ mountPath }) => caFile.startsWith(`${mountPath}/`));
  const volume = newDocument.spec.template.spec.volumes.find(({ name }) => name === mount?.name);
  expect(volume?.secret).toMatchObject({
    secretName: 'muster-client-ca',
    items: [{ key: 'ca.crt', path: 'ca.crt' }],
  });
  expect(caFile).toBe(`${mount?.mountPath}/ca.crt`);
});
