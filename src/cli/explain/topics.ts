import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { keys } from '../../api/keys.ts';
import { errorCatalogue } from '../../errors.ts';
import type { JsonObject } from '../../json/json.ts';
import { metricCatalogue } from '../../telemetry/metric-catalogue.ts';
import { packageRoot } from '../version.ts';
import { fieldTopic } from './field-topic.ts';
import { noticeTopic, policyTopic, ruleTopic } from './rule-topics.ts';
import { settingTopic } from './setting-topic.ts';
import type { Topic } from './topic.ts';

const keyTopic: Topic = {
  name: 'labels',
  title: 'Labels, annotations, finalizers, scheduling gates and conditions',
  one: 'key',
  page: 'labels.md',
  columns: [
    { key: 'as', head: 'What' },
    { key: 'on', head: 'On' },
    { key: 'writer', head: 'Written by' },
    { key: 'says', head: 'Meaning' },
    { key: 'without', head: 'Without it' },
    { key: 'wrong', head: 'If wrong' },
  ],
  entries: keys.map(({ key, as, on, writer, says, without, wrong }) => ({
    name: key,
    // The key without its prefix, as people call it.
    aliases: key.includes('/') ? [key.slice(key.indexOf('/') + 1)] : [],
    cells: [as, on, writer, says, without, wrong],
  })),
};

const metricTopic: Topic = {
  name: 'metrics',
  title: 'Metrics',
  one: 'metric',
  page: 'metrics.md',
  columns: [
    { key: 'type', head: 'Type' },
    { key: 'labels', head: 'Labels' },
    { key: 'meaning', head: 'Meaning' },
  ],
  entries: Object.entries(metricCatalogue).map(([name, { type, labels, help }]) => ({
    name,
    cells: [type, labels.map((label) => `\`${label}\``).join(', ') || 'none', help],
  })),
};

const errorTopic: Topic = {
  name: 'errors',
  title: 'Errors that Muster tells whoever runs it',
  one: 'error',
  page: 'cli.md',
  columns: [
    { key: 'exit', head: 'Exit code' },
    { key: 'meaning', head: 'Meaning' },
  ],
  entries: Object.entries(errorCatalogue).map(([name, { exitCode, summary }]) => ({
    name,
    cells: [String(exitCode), summary],
  })),
};

const DEFINITIONS = [
  'crds/podgang.yaml',
  'crds/hpcpolicy.yaml',
  'crds/schedulerbackend.yaml',
  'karmada/queues/fleetqueue.yaml',
];
const POLICIES = ['policies', 'karmada/queues'];

/**
 * All topics of `muster explain`, one for each table. Fields and rules of the API server are read from the manifests;
 * without manifests these two topics are empty.
 */
export function topics(root = packageRoot()): readonly Topic[] {
  const manifests = join(root ?? '', 'manifests');
  const policies = POLICIES.flatMap((folder) => yamlIn(join(manifests, folder)));
  const definitions = DEFINITIONS.map((file) => join(manifests, file));
  return [
    ruleTopic,
    policyTopic(policies.flatMap(objectsIn)),
    noticeTopic,
    keyTopic,
    fieldTopic(definitions.flatMap(objectsIn)),
    settingTopic,
    metricTopic,
    errorTopic,
  ];
}

function yamlIn(folder: string): string[] {
  return orNothing(() =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && name !== 'kustomization.yaml')
      .sort()
      .map((name) => join(folder, name)),
  );
}

const objectsIn = (file: string): JsonObject[] =>
  orNothing(() =>
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as JsonObject),
  );

function orNothing<Item>(read: () => Item[]): Item[] {
  try {
    return read();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}
