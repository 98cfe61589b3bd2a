import { printable } from '../../text/printable.ts';
import { rules } from '../../api/rules.ts';
import { labelSlips } from '../../workloads/label-slips.ts';

interface Notice {
  /** A warning fails `--strict`, a note does not. */
  readonly severity: 'warning' | 'note';
  readonly says: string;
  readonly fix: string;
}

/**
 * Notices about an input as a whole, which admission cannot give: it sees one object at a time. docs/reference/cli.md lists
 * them, and a test compares both.
 */
export const notices = {
  GroupUnknown: {
    severity: 'warning',
    says: 'the PodGang has no such group, so its Pods never count',
    fix: 'name one of its spec.podgroups, or add the group there',
  },
  GroupWithoutPods: {
    severity: 'warning',
    says: 'no Pod of the input is of this group, so the gang stays incomplete',
    fix: 'give the Pods the labels of the gang and of this group, or remove the group',
  },
  GroupTooSmall: {
    severity: 'warning',
    says: 'fewer Pods than minReplicas: the gang can never complete',
    fix: 'raise the number of Pods, or lower minReplicas',
  },
  // Admission refuses such a workload where it asks for a gang itself; for a written PodGang admission does not know the
  // workload.
  PodsOneByOne: {
    severity: 'warning',
    says: rules.PodsOneByOne.says,
    fix: rules.PodsOneByOne.fix,
  },
  GangMisnamed: {
    severity: 'warning',
    says: 'there is no such PodGang in the input',
    fix: 'correct the label, or give the PodGang as well',
  },
  GangElsewhere: {
    severity: 'warning',
    says: 'the PodGang of this name is in another namespace, and a gang is of one',
    fix: 'put both into the same namespace',
  },
  GangNotGiven: {
    severity: 'note',
    says: 'not in the input, so the groups and counts of their Pods were not compared',
    fix: 'give the PodGangs as well to have that done',
  },
  SchedulersDiffer: {
    severity: 'warning',
    says: 'its PodGang names another scheduler: the Pod would never be released with it',
    fix: 'give both the same grove.io/scheduler-name, or the Pod none',
  },
  GivenTwice: {
    severity: 'warning',
    says: 'an object of this name is in the input before: the later one takes its place',
    fix: 'rename or remove one',
  },
  NoPodsYet: {
    severity: 'note',
    says: 'the workload has no Pods now, and so no PodGang: it gets one with its first Pods',
    fix: 'leave it so, or raise their number',
  },
  MadeByGrove: {
    severity: 'note',
    says: 'the Grove operator makes PodGangs and Pods of it, and only these can be reviewed and planned for',
    fix: 'give them: kubectl get podgangs,pods -o yaml',
  },
  NamespaceExempt: {
    severity: 'warning',
    says: 'Muster leaves the Pods of this namespace alone: they are in no gang, whatever their labels',
    fix: 'put them into another namespace',
  },
  LabelMisspelt: { severity: 'warning', ...labelSlips.LabelMisspelt },
  SchedulerMisspelt: { severity: 'warning', ...labelSlips.SchedulerMisspelt },
  LabelAsAnnotation: { severity: 'warning', ...labelSlips.LabelAsAnnotation },
  AnnotationAsLabel: { severity: 'warning', ...labelSlips.AnnotationAsLabel },
  LabelOnWorkload: { severity: 'warning', ...labelSlips.LabelOnWorkload },
  KeyUnknown: { severity: 'warning', ...labelSlips.KeyUnknown },
  KindMisspelt: {
    severity: 'warning',
    says: 'no such kind is known',
    fix: 'correct it: as it stands nothing in it was looked at',
  },
  KindMissing: {
    severity: 'warning',
    says: 'an object without apiVersion and kind, which no API server takes',
    fix: 'add both, or leave the file out',
  },
  NameNotText: {
    severity: 'warning',
    says: 'must be a string, or no API server takes the object',
    fix: 'correct it',
  },
  NameMissing: {
    severity: 'warning',
    says: 'an object without a name, which no API server takes',
    fix: 'add metadata.name',
  },
  SpecMissing: {
    severity: 'warning',
    says: 'an object without its spec, which no API server takes',
    fix: 'add it',
  },
} as const satisfies Record<string, Notice>;

export type NoticeName = keyof typeof notices;

/** `<says>; <fix> [<rule>]`. @param about details of this case, which come first */
export function noticeText(rule: NoticeName, about = ''): string {
  const { says, fix } = notices[rule];
  const tail = `${says}; ${fix} [${rule}]`;
  return about === '' ? tail : `${printable(about)}: ${tail}`;
}
