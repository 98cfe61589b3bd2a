import { describe, expect, test } from '@jest/globals';
import { GATE_POD_GANG_PENDING } from '../../../src/api/names.ts';
import { gangPod, pod, storedPod } from '../../support/pods.ts';
import { policy } from '../../support/policy.ts';
import { codeOf, mutatePod, operationsOf, rulesOf, textsOf, validatePod } from '../../support/reviews.ts';
import { patched } from '../../support/rfc6902.ts';

const UNTOUCHED = { faults: [], changes: [], warnings: [], backend: undefined, gang: undefined };
const GATE = { name: GATE_POD_GANG_PENDING };

describe('a Pod that is none of Muster’s business passes untouched', () => {
  test.each([
    ['without the gang label', { object: pod({ labels: { app: 'web' } }) }],
    ['with a group but no gang', { object: pod({ labels: { 'grove.io/podclique': 'worker' } }) }],
    ['without labels', { object: pod() }],
    ['with labels null', { object: pod({ labels: null }) }],
    ['without metadata', { object: { apiVersion: 'v1', kind: 'Pod', spec: {} } }],
    ['in kube-system', { object: gangPod(), namespace: 'kube-system' }],
    ['in Muster’s own namespace', { object: gangPod(), namespace: 'muster-system' }],
    ['on UPDATE', { object: gangPod(), oldObject: gangPod() }],
    ['on DELETE', { operation: 'DELETE', oldObject: gangPod() }],
    ['on CONNECT', { operation: 'CONNECT', object: gangPod() }],
    ['as status', { object: gangPod(), subResource: 'status' }],
    ['as ephemeralcontainers', { object: gangPod(), subResource: 'ephemeralcontainers' }],
    ['as resize', { object: gangPod(), subResource: 'resize' }],
    ['as binding', { object: gangPod(), subResource: 'binding' }],
  ])('%s', (_what, parts) => {
    expect(mutatePod(parts)).toEqual(UNTOUCHED);
  });

  test('as a mirror Pod, which the kubelet writes for a static Pod', () => {
    const object = gangPod({
      annotations: { 'kubernetes.io/config.mirror': 'hash' },
      spec: { nodeName: 'n1' },
    });
    const kubelet = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
    expect(mutatePod({ object, ...kubelet })).toEqual(UNTOUCHED);
    // Anybody can write the annotation; only a kubelet is believed.
    expect(rulesOf(mutatePod({ object }))).toEqual(['NodeNameForbidden']);
  });
});

describe('a gang Pod is gated and prepared', () => {
  test('with the gate first, when it has none', () => {
    const decision = mutatePod({ object: gangPod() });
    expect(operationsOf(decision)).toEqual([{ op: 'add', path: '/spec/schedulingGates', value: [GATE] }]);
    expect(decision).toMatchObject({
      faults: [],
      warnings: [],
      backend: 'default-scheduler',
      gang: 'ml/train',
    });
    expect(decision.changes.map(({ why }) => why)).toEqual(['the Pod waits until its gang is complete']);
  });

  test('in the namespace of the request, whatever the object says', () => {
    const object = gangPod({ metadata: { namespace: 'elsewhere' } });
    expect(mutatePod({ object, namespace: 'ml' }).gang).toBe('ml/train');
  });

  test('as well when its name is still to be generated', () => {
    const object = gangPod({ metadata: { name: undefined, generateName: 'worker-' } });
    expect(operationsOf(mutatePod({ object }))).toEqual(operationsOf(mutatePod({ object: gangPod() })));
  });

  test('and a dry run gives the same decision', () => {
    expect(mutatePod({ object: gangPod(), dryRun: true })).toEqual(mutatePod({ object: gangPod() }));
  });

  test('once: what is prepared already gives no operation at all', () => {
    expect(mutatePod({ object: storedPod() })).toMatchObject({ faults: [], changes: [], gang: 'ml/train' });
  });

  test('also when a kubelet creates it, if it is no mirror Pod', () => {
    expect(mutatePod({ object: gangPod(), groups: ['system:nodes'] }).changes).toHaveLength(1);
  });
});

describe('the backend of a Pod', () => {
  const label = (name: string) => ({ labels: { 'grove.io/scheduler-name': name } });
  const spec = (schedulerName: string | undefined) => ({ spec: { schedulerName } });
  const kaiByDefault = policy({ fallback: 'kai-scheduler' });

  test.each([
    ['the label goes first', { ...label('kai-scheduler'), ...spec('default-scheduler') }, 'kai-scheduler'],
    [
      'also over an enabled name',
      { ...label('default-scheduler'), ...spec('kai-scheduler') },
      'default-scheduler',
    ],
    ['the scheduler it names', spec('kai-scheduler'), 'kai-scheduler'],
    ['the default for no name', spec(undefined), 'default-scheduler'],
    ['the default for an empty name', spec(''), 'default-scheduler'],
  ])('is %s', (_what, parts, name) => {
    const decision = mutatePod({ object: gangPod(parts) });
    expect(decision).toMatchObject({ faults: [], backend: name });
    const stored = patched(gangPod(parts), operationsOf(decision));
    expect(stored).toMatchObject({ spec: { schedulerName: name, schedulingGates: [GATE] } });
  });

  test('is the configured default where the API server filled in default-scheduler', () => {
    expect(mutatePod({ object: gangPod(spec('default-scheduler')) }, kaiByDefault).backend).toBe(
      'kai-scheduler',
    );
    expect(mutatePod({ object: gangPod(label('default-scheduler')) }, kaiByDefault).backend).toBe(
      'default-scheduler',
    );
  });

  test.each([
    ['in spec.schedulerName', spec('slurm'), 'spec.schedulerName'],
    ['in the label', label('slurm'), 'metadata.labels[grove.io/scheduler-name]'],
    ['as an empty label', label(''), 'metadata.labels[grove.io/scheduler-name]'],
    ['as a name of Object.prototype', label('constructor'), 'metadata.labels[grove.io/scheduler-name]'],
  ])('that is unknown %s is refused, never replaced', (_what, parts, field) => {
    const object = gangPod(parts);
    const decision = mutatePod({ object });
    expect(decision.faults).toMatchObject([{ rule: 'SchedulerNotEnabled', field }]);
    expect(decision.faults[0]?.message).toContain(
      '(enabled: default-scheduler, kai-scheduler, volcano, coscheduling)',
    );
    expect(decision.changes).toEqual([]);
    expect(codeOf('Pod', { object }, decision)).toBe(422);
  });

  test('under a former name works, with a warning', () => {
    const decision = mutatePod({ object: gangPod(spec('grove-scheduler')) });
    expect(decision.backend).toBe('kai-scheduler');
    expect(decision.warnings).toEqual([
      'scheduler name "grove-scheduler" is deprecated: use "kai-scheduler"',
    ]);
    expect(operationsOf(decision)).toContainEqual({
      op: 'replace',
      path: '/spec/schedulerName',
      value: 'kai-scheduler',
    });
  });
});

describe('a gang Pod is refused', () => {
  test.each([
    ['without a group: 422', pod({ labels: { 'grove.io/podgang': 'train' } }), ['GroupLabelRequired'], 422],
    [
      'with an empty group: 422',
      gangPod({ labels: { 'grove.io/podclique': '' } }),
      ['GroupLabelRequired'],
      422,
    ],
    ['with an empty gang: 422', gangPod({ labels: { 'grove.io/podgang': '' } }), ['GangNameInvalid'], 422],
    [
      'with a gang name over 63 characters: 422',
      gangPod({ labels: { 'grove.io/podgang': 'a'.repeat(64) } }),
      ['GangNameInvalid'],
      422,
    ],
    ['on a node of its choice: 403', gangPod({ spec: { nodeName: 'n1' } }), ['NodeNameForbidden'], 403],
    [
      'with everything wrong at once, all named: 422',
      pod({ labels: { 'grove.io/podgang': 'T' }, spec: { nodeName: 'n1', schedulerName: 'slurm' } }),
      ['GangNameInvalid', 'GroupLabelRequired', 'NodeNameForbidden', 'SchedulerNotEnabled'],
      422,
    ],
  ])('%s', (_what, object, rules, code) => {
    const decision = mutatePod({ object });
    expect(rulesOf(decision)).toEqual(rules);
    expect(decision.changes).toEqual([]);
    expect(codeOf('Pod', { object }, decision)).toBe(code);
  });

  test('but not for an empty nodeName', () => {
    expect(mutatePod({ object: gangPod({ spec: { nodeName: '' } }) }).faults).toEqual([]);
  });
});

describe('the backend of a Pod that names none', () => {
  const placement = {
    ofGang: (namespace: string, gang: string) =>
      namespace === 'ml' && gang === 'train' ? 'kai-scheduler' : undefined,
    ofNamespace: (namespace: string) => (namespace === 'ops' ? 'kai-scheduler' : null),
  };
  const under = policy({ placement });
  const schedulerOf = (parts: Parameters<typeof mutatePod>[0], given = under) =>
    mutatePod(parts, given).backend;

  test.each([
    ['its gang’s', { object: gangPod() }, 'kai-scheduler'],
    ['its Namespace’s', { object: gangPod(), namespace: 'ops' }, 'kai-scheduler'],
    ['the default', { object: gangPod(), namespace: 'web' }, 'default-scheduler'],
    [
      'its label’s before its Namespace’s',
      { object: gangPod({ labels: { 'grove.io/scheduler-name': 'volcano' } }), namespace: 'ops' },
      'volcano',
    ],
    [
      'its scheduler’s before its Namespace’s',
      { object: gangPod({ spec: { schedulerName: 'volcano' } }), namespace: 'ops' },
      'volcano',
    ],
  ])('is %s', (_what, parts, backend) => {
    expect(schedulerOf(parts)).toBe(backend);
  });

  test('is written on the Pod, so that it stays whatever is known later', () => {
    const object = gangPod();
    const stored = patched(object, operationsOf(mutatePod({ object }, under)));
    expect(stored).toMatchObject({
      metadata: { labels: { 'grove.io/scheduler-name': 'kai-scheduler' } },
      spec: { schedulerName: 'kai-scheduler' },
    });
    for (const later of [under, policy()]) {
      expect(mutatePod({ object: stored }, later).changes).toEqual([]);
      expect(validatePod({ object: stored }, later).faults).toEqual([]);
    }
  });

  test('that was prepared before its Namespace was known is let in', () => {
    const object = gangPod();
    const stored = patched(object, operationsOf(mutatePod({ object }, policy())));
    expect(validatePod({ object: stored, namespace: 'ops' }, under).faults).toEqual([]);
    // But not what neither knowledge explains.
    const other = gangPod({ spec: { schedulerName: 'default-scheduler', schedulingGates: [GATE] } });
    const kaiOnly = policy({ fallback: 'kai-scheduler', placement });
    expect(rulesOf(validatePod({ object: other }, kaiOnly))).toEqual(['SchedulerMismatch']);
  });

  test('that was prepared before its gang was known is refused: it would never be counted', () => {
    const object = gangPod();
    const stored = patched(object, operationsOf(mutatePod({ object }, policy())));
    const decision = validatePod({ object: stored }, under);
    expect(textsOf(decision)).toEqual([
      'spec.schedulerName: Invalid value: "default-scheduler": a Pod goes to the scheduler of its gang, all others of which go there (PodGang train is of kai-scheduler); create the Pod again without this: it gets the backend of its gang [BackendOfGang]',
    ]);
  });

  test('that is not enabled refuses the Pod and says where the name stands', () => {
    const slurm = policy({ placement: { ofGang: () => 'slurm', ofNamespace: () => undefined } });
    expect(textsOf(mutatePod({ object: gangPod() }, slurm))[0]).toMatch(
      /^PodGang train: metadata\.labels\[grove\.io\/scheduler-name\]: .*enabled: default-scheduler/,
    );
    const inNamespace = policy({ placement: { ofGang: () => undefined, ofNamespace: () => 'slurm' } });
    expect(textsOf(mutatePod({ object: gangPod() }, inNamespace))[0]).toMatch(
      /^Namespace: metadata\.annotations\[grove\.io\/scheduler-name\]: (?!.*slurm).*enabled: /,
    );
  });
});
