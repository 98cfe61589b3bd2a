import {
  boolField,
  int32Field,
  messagesField,
  messageWith,
  messageField,
  quantityMapField,
  textField,
  textMapField,
  textsField,
  timeField,
} from '../../protobuf/message.ts';

/** `ObjectMeta` of k8s.io/apimachinery/pkg/apis/meta/v1. */
const METADATA = messageWith({
  1: textField('name'),
  3: textField('namespace'),
  5: textField('uid'),
  6: textField('resourceVersion'),
  8: timeField('creationTimestamp'),
  9: timeField('deletionTimestamp'),
  11: textMapField('labels'),
  12: textMapField('annotations'),
  13: messagesField(
    'ownerReferences',
    messageWith({
      1: textField('kind'),
      3: textField('name'),
      4: textField('uid'),
      5: textField('apiVersion'),
      6: boolField('controller'),
    }),
  ),
});

const CONTAINER = messageWith({
  3: textsField('command'),
  8: messageField(
    'resources',
    messageWith({ 1: quantityMapField('limits'), 2: quantityMapField('requests') }),
  ),
});

const SPEC = messageWith({
  2: messagesField('containers', CONTAINER),
  10: textField('nodeName'),
  16: textField('hostname'),
  17: textField('subdomain'),
  19: textField('schedulerName'),
  24: textField('priorityClassName'),
  25: int32Field('priority'),
  38: messagesField('schedulingGates', messageWith({ 1: textField('name') })),
  // Of Kubernetes 1.35, which 1.36 replaced by the next.
  42: messageField(
    'workloadRef',
    messageWith({ 1: textField('name'), 2: textField('podGroup'), 3: textField('podGroupReplicaKey') }),
  ),
  43: messageField('schedulingGroup', messageWith({ 1: textField('podGroupName') })),
});

const STATUS = messageWith({
  1: textField('phase'),
  2: messagesField(
    'conditions',
    messageWith({
      1: textField('type'),
      2: textField('status'),
      5: textField('reason'),
      6: textField('message'),
    }),
  ),
});

/** The fields of a Pod of k8s.io/api/core/v1 that its record is made of. */
export const MEMBER_POD_FIELDS = messageWith({
  1: messageField('metadata', METADATA),
  2: messageField('spec', SPEC),
  3: messageField('status', STATUS),
});
