import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { packageRoot } from '../../../src/cli/version.ts';
import { own, ownObject, ownString, type Json, type JsonObject } from '../../../src/json/json.ts';
import { helm, helmSuite } from '../../support/helm.ts';

const schema = JSON.parse(
  readFileSync(join(packageRoot() ?? '', 'charts/muster/values.schema.json'), 'utf8'),
) as JsonObject;

/** A value for a part of the schema, with a slip wherever there can be one, and where they are. */
interface Slips {
  readonly value: unknown;
  readonly paths: readonly string[];
}

/** Every object that knows its keys is given one more. */
function unknownKeys(at: Json, path: string): Slips {
  const fields = ownObject(at, 'properties');
  const items = ownObject(at, 'items');
  if (items !== undefined) {
    const { value, paths } = unknownKeys(items, `${path}/0`);
    return paths.length === 0 ? { value: undefined, paths } : { value: [value], paths };
  }
  if (fields === undefined) return { value: undefined, paths: [] };
  const inner = Object.entries(fields).map(
    ([key, field]) => [key, unknownKeys(field, `${path}/${key}`)] as const,
  );
  const strict = own(at, 'additionalProperties') === false;
  const value = {
    ...Object.fromEntries(
      inner.filter(([, { paths }]) => paths.length > 0).map(([key, { value }]) => [key, value]),
    ),
    ...(strict ? { slip: true } : {}),
  };
  return { value, paths: [...(strict ? [path] : []), ...inner.flatMap(([, { paths }]) => paths)] };
}

const WRONG: Readonly<Record<string, unknown>> = {
  ...{ string: 7, boolean: 'slip', integer: 'slip', number: 'slip' },
};

/** Every scalar is of another type. */
function wrongTypes(at: Json, path: string): Slips {
  const type = ownString(at, 'type') ?? '';
  if (own(at, 'anyOf') !== undefined) return { value: { slip: true }, paths: [path] };
  if (type in WRONG) return { value: WRONG[type], paths: [path] };
  if (type === 'array') {
    const { value, paths } = wrongTypes(own(at, 'items') ?? {}, `${path}/0`);
    return paths.length === 0 ? { value: 'slip', paths: [path] } : { value: [value], paths };
  }
  const fields = Object.entries(ownObject(at, 'properties') ?? {}).map(
    ([key, field]) => [key, wrongTypes(field, `${path}/${key}`)] as const,
  );
  return {
    value: Object.fromEntries(fields.map(([key, { value }]) => [key, value])),
    paths: fields.flatMap(([, { paths }]) => paths),
  };
}

const refused = async (values: object): Promise<string> => {
  const { code, err } = await helm(['template', 'muster'], values);
  expect(code).toBe(1);
  return err;
};

/** Paths that helm says something about, by `- at '/image/tag': …`. */
const told = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/- at '([^']*)':/g)].map(([, path]) => path ?? ''));

helmSuite('values of the chart', () => {
  test.each([
    ['a key that is not known', unknownKeys, 80],
    ['a value of another type', wrongTypes, 190],
  ])('%s is refused wherever it is', async (_what, slipsOf, atLeast) => {
    const { value, paths } = slipsOf(schema, '');
    const text = await refused(value as object);
    const missed = paths.filter((path) => !told(text).has(path));
    expect({ missed, many: paths.length >= atLeast }).toEqual({ missed: [], many: true });
  });

  test('helm says where and what', async () => {
    const values = { replicas: 3, image: { tga: 'x', pullPolicy: 'always' }, config: { logLevl: 'debug' } };
    // Helm says them in any order.
    expect((await refused(values)).trim().split('\n').sort()).toEqual(
      [
        "Error: values don't meet the specifications of the schema(s) in the following chart(s):",
        'muster:',
        "- at '/config': additional properties 'logLevl' not allowed",
        "- at '/image': validation failed",
        "  - at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'",
        "  - at '/image': additional properties 'tga' not allowed",
        "- at '': additional properties 'replicas' not allowed",
      ].sort(),
    );
  });

  test.each<[string, object]>([
    [
      'config.trustedAccounts: Forbidden: policies have the same list; write further accounts into trustedAccounts',
      { config: { trustedAccounts: ['a'] } },
    ],
    [
      'config.leaderElection.resourceName: Forbidden: a Role and a policy name the Lease; leave it out',
      { config: { leaderElection: { resourceName: 'mine' } } },
    ],
    [
      'config.preemption.mode: Forbidden: the component brings it with its rights; set components.preemption.enabled',
      { config: { preemption: { mode: 'Act' } } },
    ],
    [
      'components.preemptionPastBudgets.enabled: Invalid value: nobody is preempted without components.preemption.enabled; set that, too',
      { components: { preemptionPastBudgets: { enabled: true } } },
    ],
    [
      "components.karmadaQueues.enabled: Invalid value: it works in Karmada's API server; set components.karmadaAccess.enabled, too",
      { components: { karmadaQueues: { enabled: true } } },
    ],
    [
      'podDisruptionBudget.minAvailable: Invalid value: 3 of 3 replicas: no node of theirs could be drained; make it less than replicaCount',
      { podDisruptionBudget: { minAvailable: 3 } },
    ],
    [
      'podDisruptionBudget.maxUnavailable: Forbidden: there is minAvailable already; take one of them',
      { podDisruptionBudget: { minAvailable: 1, maxUnavailable: 1 } },
    ],
    [
      'certificates.caBundle: Forbidden: Muster or cert-manager writes it into the webhooks; leave it out, or set certificates.mode to secret',
      { certificates: { caBundle: 'YQ==' } },
    ],
    [
      'monitoring.serviceMonitor.enabled: Forbidden: every replica would be read twice; disable it or monitoring.podMonitor.enabled',
      { monitoring: { podMonitor: { enabled: true }, serviceMonitor: { enabled: true } } },
    ],
    [
      'modules[line]: Invalid value: a module comes from one place; give it files, configMap or image',
      { modules: [{ name: 'line', configMap: 'a', files: { a: 'b' } }] },
    ],
  ])('%s', async (message, values) => {
    expect(await refused(values)).toContain(`: ${message}\n`);
  });

  test('helm lint --strict finds nothing', async () => {
    const { code, out } = await helm(['lint', '--strict']);
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('1 chart(s) linted, 0 chart(s) failed'),
    });
  });
});
