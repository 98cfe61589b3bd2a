import { expect, test } from '@jest/globals';
import { bindingRecordOf } from '../../../../src/controller/fleet-bindings/binding-record.ts';
import type { KubeObject, Resource } from '../../../../src/kube/client/resources.ts';

const BINDINGS = { kind: 'ResourceBinding', plural: 'resourcebindings' } as Resource;
const POLICY = 'propagationpolicy.karmada.io/permanent-id';

/** Whose a binding is, as Karmada's schedulers tell theirs from others'. */
test.each<[string, string | undefined, Record<string, string>, object, string, boolean]>([
  ['named, without a label', 'muster', {}, {}, 'muster', false],
  ['another’s', 'other', { [POLICY]: 'x' }, {}, 'muster', false],
  ['named, the label is empty', 'muster', { [POLICY]: '' }, {}, 'muster', false],
  ['of a policy', 'muster', { [POLICY]: 'x' }, {}, 'muster', true],
  ['of a policy of the cluster', 'muster', { [`cluster${POLICY}`]: 'x' }, {}, 'muster', true],
  ['of somebody whom Karmada knows', 'muster', { 'binding.karmada.io/managed-by': 'x' }, {}, 'muster', true],
  ['held back', 'muster', { [POLICY]: 'x' }, { suspension: { scheduling: true } }, 'muster', false],
  ['not sent yet', 'muster', { [POLICY]: 'x' }, { suspension: { dispatching: true } }, 'muster', true],
  ['nobody named: the default one’s', '', { [POLICY]: 'x' }, {}, 'default-scheduler', true],
  ['nothing said: the default one’s', undefined, { [POLICY]: 'x' }, {}, 'default-scheduler', true],
  ['nothing said: not ours', undefined, { [POLICY]: 'x' }, {}, 'muster', false],
])('%s', (_, schedulerName, labels, spec, ours, isOurs) => {
  const object = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { namespace: 'ml', name: 'job', labels },
    spec: {
      resource: { apiVersion: 'batch/v1', kind: 'Job', name: 'job' },
      ...(schedulerName !== undefined && { schedulerName }),
      ...spec,
    },
  } as unknown as KubeObject;
  expect(bindingRecordOf(object, BINDINGS, ours) !== undefined).toBe(isOurs);
  const gone = { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  expect(bindingRecordOf(gone, BINDINGS, ours)).toBeUndefined();
});
