import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { operatorConfigurationJsonSchema, settings } from '../../../src/config/settings.ts';
import { referenceRows, referenceTable, withReferenceTable } from './settings-table.ts';

/** `UPDATE_DOCS=1 npm run test:unit -- config/reference` rewrites both files. */
const update = process.env['UPDATE_DOCS'] === '1';
const docs = new URL('../../../docs/', import.meta.url);
const markdown = new URL('reference/configuration.md', docs);
const schemaFile = new URL('operator-configuration.schema.json', docs);

describe('documentation is made from the schema', () => {
  test('docs/reference/configuration.md', () => {
    if (update) writeFileSync(markdown, withReferenceTable(readFileSync(markdown, 'utf8')));
    const text = readFileSync(markdown, 'utf8');
    expect(text).toBe(withReferenceTable(text));
  });

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

  test('rows are fit for a table', () => {
    const row = referenceRows().find(({ path }) => path === '`server.webhooks.port`');
    expect(row).toEqual({
      path: '`server.webhooks.port`',
      type: 'integer',
      default: '`9443`',
      environment: '`MUSTER_SERVER_WEBHOOKS_PORT`',
      description: 'Port of the webhooks. 9443: the usual one; Grove’s own default is 2750.',
    });
    const within = referenceRows().find(({ path }) => path.endsWith('clientCertificate.caFile`'));
    expect(within?.default).toBe('required where `server.webhooks.clientCertificate` is given');
    for (const line of referenceTable().split('\n')) expect(line.split(/(?<!\\)\|/)).toHaveLength(7);
  });

  test('a page without markers is not rewritten', () => {
    expect(() => withReferenceTable('# Title')).toThrow(RangeError);
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
