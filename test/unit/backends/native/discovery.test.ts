import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../src/json/json.ts';
import { native } from '../../../../src/backends/native/backend.ts';
import { nativeSettings } from '../../../../src/backends/native/config.ts';
import { gangOf, initContext, made } from '../../../support/made-backend.ts';
import { group } from '../../../support/pod-gangs.ts';
import { clusterServing, kubeOn, serving, withComposites, type Served } from './served.ts';

const PODGROUPS = ['workloads', 'podgroups'];
const WAP =
  'native gangs have no priorityClassName here: feature gate WorkloadAwarePreemption is off, or this Kubernetes has none';
const TAS =
  'native gangs have no topology here: feature gate TopologyAwareWorkloadScheduling is off, or this Kubernetes has none';
const NONE =
  'the cluster serves no native gangs (podgroups or workloads of scheduling.k8s.io; off by default): the gates hold a gang until its Pods are all there, then each is placed by itself';

const look = (served: Served, config: JsonObject = {}) =>
  made(native, config).init(initContext(clusterServing(served)));

describe('which native gang API the cluster has', () => {
  test.each<[string, Served, string]>([
    ['1.37', { versions: { v1: [], v1beta1: PODGROUPS, v1alpha3: PODGROUPS } }, 'scheduling.k8s.io/v1beta1'],
    ['only the alpha of 1.37', { versions: { v1: [], v1alpha3: PODGROUPS } }, 'scheduling.k8s.io/v1alpha3'],
    ['1.36', serving('v1alpha2'), 'scheduling.k8s.io/v1alpha2'],
    ['1.35', serving('v1alpha1'), 'scheduling.k8s.io/v1alpha1'],
    ['1.34', { versions: { v1: ['priorityclasses'] } }, 'none'],
    // The group and version of PriorityClass, long before it had gangs.
    ['v1beta1 with PriorityClass alone', { versions: { v1beta1: ['priorityclasses'] } }, 'none'],
    [
      'v1beta1 with PriorityClass, gangs in v1alpha2',
      { versions: { v1beta1: ['priorityclasses'], v1alpha2: PODGROUPS } },
      'scheduling.k8s.io/v1alpha2',
    ],
    ['v1alpha2 with Workloads and no PodGroups', { versions: { v1alpha2: ['workloads'] } }, 'none'],
    ['nothing', {}, 'none'],
  ])('%s', async (_name, served, version) => {
    expect((await look(served)).version).toBe(version);
  });

  test('is asked with few questions', async () => {
    const ask = async (served: Served, config: JsonObject = {}): Promise<string[]> => {
      const cluster = clusterServing(served);
      await made(native, config).init(initContext(cluster));
      return cluster.questions;
    };
    expect(await ask(serving('v1alpha2'))).toEqual([
      'versions scheduling.k8s.io',
      'resources scheduling.k8s.io/v1alpha2',
      'dry run v1alpha2 podgroups',
    ]);
    expect(await ask(serving('v1beta1'))).toEqual([
      'versions scheduling.k8s.io',
      'resources scheduling.k8s.io/v1beta1',
      'resources scheduling.k8s.io/v1alpha3',
      'dry run v1beta1 podgroups',
    ]);
    expect(await ask({ versions: { v1: [] } })).toEqual(['versions scheduling.k8s.io']);
    expect(await ask(serving('v1alpha2'), { gangScheduling: false })).toEqual([]);
    expect(await ask(serving('v1alpha2'), { api: 'none' })).toEqual([]);
  });

  test.each<[string, Served, JsonObject, string[]]>([
    ['all fields', serving('v1alpha2'), {}, []],
    ['all fields, 1.37', serving('v1beta1'), {}, []],
    ['composites, 1.37', withComposites(), {}, []],
    ['no priority', serving('v1alpha2', ['disruptionMode']), {}, [WAP]],
    [
      'no disruption mode, which is asked for',
      serving('v1alpha2', ['disruptionMode']),
      { disruptionMode: 'gang' },
      [WAP.replace('priorityClassName', 'priorityClassName and disruptionMode')],
    ],
    ['no topology', serving('v1beta1', ['schedulingConstraints']), {}, [TAS]],
    ['1.35', serving('v1alpha1'), {}, [WAP, TAS]],
    ['no gangs', {}, {}, [NONE]],
    [
      'switched off',
      serving('v1alpha2'),
      { gangScheduling: false },
      [NONE.replace(/^.*\): /, 'native gangs are switched off in the configuration: ')],
    ],
  ])('says what is missing: %s', async (_name, served, config, notices) => {
    expect((await look(served, config)).notices).toEqual(notices);
  });

  test('a configured version that is not served makes the backend not ready', async () => {
    await expect(look(serving('v1alpha1'), { api: 'v1alpha2' })).rejects.toThrow(
      'config.api is v1alpha2, but the cluster serves no podgroups in scheduling.k8s.io/v1alpha2: serve them (feature gates and --runtime-config), or set config.api to auto',
    );
    await expect(look(serving('v1alpha2'), { api: 'v1alpha1' })).rejects.toThrow('serves no workloads in');
    expect((await look(serving('v1alpha2'), { api: 'v1alpha2' })).version).toBe('scheduling.k8s.io/v1alpha2');
  });

  test('composites that are asked for and not served make the backend not ready', async () => {
    const groups = { groups: 'composite' };
    await expect(look(serving('v1beta1'), groups)).rejects.toThrow(
      'config.groups is composite, but the cluster serves no compositepodgroups in scheduling.k8s.io/v1alpha3: serve them (feature gate CompositePodGroup and --runtime-config), or set config.groups to auto',
    );
    await expect(look(serving('v1alpha2'), groups)).rejects.toThrow('serves no compositepodgroups');
  });

  test('what holds several groups together is part of what is spoken, where it is used', async () => {
    const spoken = async (config: JsonObject) => (await look(withComposites(), config)).version;
    const whole = 'scheduling.k8s.io/v1beta1, CompositePodGroup of v1alpha3';
    expect(await spoken({})).toBe(whole);
    expect(await spoken({ groups: 'composite' })).toBe(whole);
    for (const groups of ['flat', 'per-group'])
      expect(await spoken({ groups })).toBe('scheduling.k8s.io/v1beta1');
    expect((await look(serving('v1beta1'))).version).toBe('scheduling.k8s.io/v1beta1');
  });

  test('without a cluster the configuration decides, and a notice says so', async () => {
    const offline = (config: JsonObject) => made(native, config).init(initContext());
    expect(await offline({})).toEqual({
      version: 'none',
      notices: [
        'no cluster was asked for native gangs, and config.api does not say: the gates hold a gang until its Pods are all there, then each is placed by itself',
      ],
    });
    expect(await offline({ api: 'v1alpha2' })).toEqual({
      version: 'scheduling.k8s.io/v1alpha2',
      notices: [
        'no cluster was asked: scheduling.k8s.io/v1alpha2 is taken to be served, with all its fields',
      ],
    });
    expect((await offline({ api: 'none' })).notices).toEqual([
      expect.stringContaining('switched off in the configuration'),
    ]);
  });

  test('the kinds to watch are those of what was found', async () => {
    const kinds = async (served: Served): Promise<string[]> =>
      ((await kubeOn(served)).owns?.() ?? []).map(({ version, plural }) => `${version} ${plural}`);
    expect(await kinds(serving('v1beta1'))).toEqual(['v1beta1 workloads', 'v1beta1 podgroups']);
    expect(await kinds(withComposites())).toEqual([
      'v1beta1 workloads',
      'v1alpha3 compositepodgroups',
      'v1beta1 podgroups',
    ]);
    expect(await kinds(serving('v1alpha2'))).toEqual(['v1alpha2 workloads', 'v1alpha2 podgroups']);
    expect(await kinds(serving('v1alpha1'))).toEqual(['v1alpha1 workloads']);
    expect(await kinds({})).toEqual([]);
  });

  test('a cluster that stops answering leaves what was known', async () => {
    const backend = await kubeOn(serving('v1alpha2'));
    await expect(backend.init(initContext(clusterServing({ down: 'connection refused' })))).rejects.toThrow(
      'connection refused',
    );
    expect(backend.owns?.()).toHaveLength(2);
  });

  test('gates come off minimum first only where one count stands for several groups', async () => {
    const two = gangOf();
    const one = gangOf({ groups: [{ name: 'worker', minReplicas: 2, podReferences: [] }] });
    const order = async (served: Served, config: JsonObject = {}) => {
      const backend = await kubeOn(served, config);
      return [backend.releaseOrder?.(two), backend.releaseOrder?.(one)];
    };
    expect(await order(serving('v1alpha2'))).toEqual(['minimum-first', 'all-at-once']);
    expect(await order(serving('v1alpha2'), { groups: 'per-group' })).toEqual(['all-at-once', 'all-at-once']);
    // There no Pod of a group is tried while another one has a gate.
    expect(await order(serving('v1beta1'))).toEqual(['all-at-once', 'all-at-once']);
    expect(await order({})).toEqual(['all-at-once', 'all-at-once']);
    expect(await order(withComposites())).toEqual(['all-at-once', 'all-at-once']);
    const optional = gangOf({ groups: [group('leader'), group('helper', { minReplicas: 0 })] });
    expect((await kubeOn(withComposites())).releaseOrder?.(optional)).toBe('optional-groups-last');
  });
});

describe('the configuration', () => {
  test.each<[JsonObject, string]>([
    [{ gangscheduling: true }, 'config.gangscheduling: unknown key (did you mean "gangScheduling"?)'],
    [{ gangScheduling: 'yes' }, 'config.gangScheduling: must be true or false'],
    [
      { api: 'v1alpha4' },
      'config.api: must be one of auto, v1beta1, v1alpha3, v1alpha2, v1alpha1, none (did you mean "v1alpha3"?)',
    ],
    [
      { groups: 'pergroup' },
      'config.groups: must be one of auto, flat, per-group, composite (did you mean "per-group"?)',
    ],
    [{ disruptionMode: 'Pod' }, 'config.disruptionMode: must be one of pod, gang (did you mean "pod"?)'],
  ])('%j is refused', (config, message) => {
    expect(() => made(native, config)).toThrow(message);
  });

  test('has a description for every key', () => {
    expect(Object.keys(nativeSettings)).toEqual(['gangScheduling', 'api', 'groups', 'disruptionMode']);
  });
});
