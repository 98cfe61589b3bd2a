import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { operatorConfigurationJsonSchema, settings } from '../../../src/config/settings.ts';

/** `UPDATE_DOCS=1 npm run test:unit -- config/reference` rewrites the file. */
const update = process.env['UPDATE_DOCS'] === '1';
const docs = new URL('../../../docs/', import.meta.url);
const schemaFile = new URL('operator-configuration.schema.json', docs);

describe('documentation is made from the schema', () => {
  test('docs/operator-configuration.schema.json', () => {
    const schema = operatorConfigurationJsonSchema();
    if (update) writeFileSync(schemaFile, `${JSON.stringify(schema, null, 2)}\n`);
    expect(JSON.parse(readFileSync(schemaFile, 'utf8'))).toEqual(schema);
  });

  test('every setting is described, with a default or a reason for none', () => {
    for (const setting of settings)
      expect([setting.path, setting.description.length > 20]).toEqual([setting.path, true]);
    expect(settings.filter((setting) => setting.default === undefined).map(({ path }) => path)).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'schedulerName',
      'scheduler.profiles',
      'scheduler.profiles[].name',
      'scheduler.profiles[].module',
      'scheduler.profiles[].integrity',
      'scheduler.defaultProfileName',
      'controllers.podGang.namespaceSelector.matchExpressions[].key',
      'controllers.podGang.namespaceSelector.matchExpressions[].operator',
      'controllers.podGang.objectSelector.matchExpressions[].key',
      'controllers.podGang.objectSelector.matchExpressions[].operator',
      'topologyAwareScheduling.levels[].domain',
      'topologyAwareScheduling.levels[].key',
      'server.webhooks.clientCertificate.caFile',
      'server.certificates.leaf.renewBefore',
      'server.certificates.ca.renewBefore',
      'hpc.preparations[].name',
      'hpc.preparations[].module',
      'hpc.preparations[].integrity',
      'workloads[].group',
      'workloads[].kind',
      'workloads[].templates[].items',
      'workloads[].templates[].name',
      'workloads[].templates[].nameFrom',
      'workloads[].templates[].template',
      'workloads[].templates[].replicas',
      'workloads[].templates[].minAvailable',
      'workloads[].single.template',
      'workloads[].single.replicas',
      'workloads[].single.minAvailable',
      'workloads[].minAvailable',
      'workloads[].plural',
      'workloads[].short',
      'workloads[].labels.gang',
      'workloads[].labels.group',
      'fleet.kubeconfig',
      'fleet.assigner.plugins[].name',
      'fleet.assigner.plugins[].module',
      'fleet.assigner.plugins[].integrity',
      'fleet.estimators.tls.caFile',
      'fleet.estimators.tls.certFile',
      'fleet.estimators.tls.keyFile',
      'fleet.kinds[].group',
      'fleet.kinds[].kind',
      'fleet.kinds[].templates[].items',
      'fleet.kinds[].templates[].name',
      'fleet.kinds[].templates[].nameFrom',
      'fleet.kinds[].templates[].template',
      'fleet.kinds[].templates[].replicas',
      'fleet.kinds[].templates[].minAvailable',
      'fleet.kinds[].single.template',
      'fleet.kinds[].single.replicas',
      'fleet.kinds[].single.minAvailable',
      'fleet.kinds[].minAvailable',
    ]);
  });

  test('JSON Schema is draft 2020-12 and as strict as the reader', () => {
    const schema = operatorConfigurationJsonSchema();
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'urn:muster:operator-configuration:v1alpha1',
      title: 'OperatorConfiguration',
      required: ['apiVersion', 'kind'],
      additionalProperties: false,
    });
  });
});
