import { parse } from 'yaml';
import type { JsonObject } from '../../src/json/json.ts';

/** As a template is written short: `T` has the label `muster.dev/gang`, `U` has not. */
const SHORT: Readonly<Record<string, string>> = {
  T: '{metadata: {labels: {muster.dev/gang: "true"}}, spec: {containers: [{name: main, image: a}]}}',
  U: '{metadata: {labels: {}}, spec: {containers: [{name: main, image: a}]}}',
};

/** `apps/v1 DaemonSet each` and its spec as flow YAML, in which the words `T` and `U` are templates. */
export function askingWorkload(title: string, spec: string, metadata: JsonObject = {}): JsonObject {
  const [apiVersion = '', kind = '', name = ''] = title.split(' ');
  const written = spec.replaceAll(/\b[TU]\b/g, (word) => SHORT[word] ?? word);
  const named = { name, namespace: 'ml', ...metadata };
  return { apiVersion, kind, metadata: named, spec: parse(`{${written}}`) as JsonObject };
}
