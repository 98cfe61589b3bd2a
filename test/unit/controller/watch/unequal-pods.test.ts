/** What Flux is told of a group follows from its Pods: as they are asked for, and not at all where they differ. */
import { expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING } from '../../../../src/api/names.ts';
import { ownObject } from '../../../../src/json/json.ts';
import type { OwnedObject, SyncContext } from '../../../../src/backends/cluster.ts';
import type { GangWatch } from '../../../../src/controller/watch/gang-watch.ts';
import { HpcObjects } from '../../../../src/controller/watch/hpc-objects.ts';
import { readGangRecord } from '../../../../src/gang/read-records.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { parseHpcPolicy } from '../../../../src/preparers/policy/hpc-policy.ts';
import { hpcGang } from '../../../support/hpc-gangs.ts';
import { group, podGang } from '../../../support/pod-gangs.ts';
import { hpcPolicy } from '../../../support/hpc.ts';

const POLICY = parseHpcPolicy(hpcPolicy({ hpc: { manager: 'flux' } }), 'ml').policy;
const GANG = readGangRecord(hpcGang());
const [GROUP = ''] = GANG.spec.groups.map(({ name }) => name);

/** @returns the lines of Flux's resources that the gang's ConfigMap has when its Pods ask for these amounts */
async function resourcesOf(...asks: string[]): Promise<string> {
  const made = await madeFor(
    GANG,
    asks.map((one) => ({ group: GROUP, asks: one })),
  );
  return made
    .map(({ body }) => ownObject(body, 'data')?.['resources'])
    .find((one) => one !== undefined) as string;
}

/** @returns what is applied for a gang with these Pods, which have their gates unless they are said to have none */
async function madeFor(gang: GangRecord, given: readonly Partial<PodRecord>[]): Promise<OwnedObject[]> {
  const made: OwnedObject[] = [];
  const gates = [GATE_POD_GANG_PENDING];
  const pods = given.map((pod) => ({ prepared: 'flux', gates, ...pod }) as PodRecord);
  const watch = { view: { pods: { byIndex: () => pods } }, onPod: () => undefined, touch: () => undefined };
  const policies = { known: true, get: () => ({ policy: POLICY }), anyIn: () => true };
  const objects = new HpcObjects(watch as unknown as GangWatch, {
    policies: policies as never,
    onPolicy: () => undefined,
    gangsUnder: () => [],
  });
  const context: SyncContext = {
    signal: new AbortController().signal,
    pods: [],
    owned: () => [],
    apply: (object: OwnedObject) => {
      made.push(object);
      return Promise.resolve('created');
    },
    read: () => Promise.resolve(undefined),
    remove: () => Promise.resolve(),
    warn: () => undefined,
  };
  await objects.sync(context, gang);
  return made;
}

test('Pods of a group that ask for the same are told to Flux', async () => {
  expect(await resourcesOf('4 2', '4 2')).toMatch(new RegExp(`^${GROUP}-\\S+ \\d+ 4 2\\n`));
});

test('a gang whose Pods of one group differ gets no objects, and the reason', async () => {
  await expect(resourcesOf('4 2', '- 0')).rejects.toThrow(
    `Pods of group ${GROUP} ask for different amounts (4 cores and 2 GPUs; no cores and 0 GPUs): Flux is told of a group, not of a Pod`,
  );
});

test.each([
  ['before any Pod runs', undefined, undefined],
  ['while Pods of the other group run: a lead that starts again goes by what was told', [], true],
])(
  'whether a ConfigMap that is there stays as it is where a group has no Pods, %s',
  async (_when, gates, once) => {
    const gangWith = (workers: number): GangRecord => {
      const groups = [group('lead', { minReplicas: 1 }), group('worker', { minReplicas: workers })];
      const annotations = { 'muster.dev/hpc-policy': 'flux', 'muster.dev/expected-pods': 'worker=4' };
      return readGangRecord(podGang({ annotations, groups }));
    };
    const gang = gangWith(4);
    const pods = [{ group: 'lead', asks: '4 2', ...(gates && { gates }) }];
    const configMap = (made: readonly OwnedObject[]) =>
      made.find(({ resource }) => resource.kind === 'ConfigMap');
    expect(configMap(await madeFor(gang, pods))?.once).toBe(once);
    expect(configMap(await madeFor(gang, [...pods, { group: 'worker', asks: '8 8' }]))?.once).toBeUndefined();
    // A group that may be empty may never have had Pods.
    expect(configMap(await madeFor(gangWith(0), pods))?.once).toBeUndefined();
  },
);
