import { own, ownString } from '../../json/json.ts';
import {
  LABEL_GANG,
  LABEL_POD_GANG,
  LABEL_SCHEDULER_NAME,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import { keyed } from '../../text/printable.ts';
import { claimsGang, membershipOf } from '../../gang/membership.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import type { SourceObject } from '../input/source-object.ts';
import type { Finding } from '../output/findings.ts';
import { compareGangs, type GivenGang, type GivenPods } from './compare.ts';
import { notices, noticeText, type NoticeName } from './notices.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { templateKinds, kindAmong } from '../../workloads/kinds.ts';
import { askingWorkload } from '../../workloads/asking-workload.ts';
import { controlledPods } from '../../workloads/preview-gang.ts';
import { podFromTemplate } from '../../workloads/pod-from-template.ts';
import { namesOf } from '../../workloads/pod-names.ts';
import { marksOf } from '../../workloads/pod-origin.ts';
import { podTemplatesOf, type PodTemplate } from '../../workloads/pod-templates.ts';
import { StartCheck } from './start-check.ts';
import { keySlips, slipsIn, type Slip } from './slips.ts';

/** An object of the input, and the path of the Pod or template in it. */
interface At {
  readonly source: SourceObject;
  readonly root: string;
}

/** Findings of one rule that are listed; a last line has the number of the others. */
const MOST_OF_A_RULE = 20;

/**
 * Reads every object of an input, and reports mismatches between objects, which a review of one object cannot show. Memory
 * is a count for each group, so an input may have thousands of Pods.
 */
export class GangSurvey {
  readonly #namespace: string;
  readonly #exempt: ReadonlySet<string>;
  readonly #kinds: readonly GangKind[] | undefined;
  readonly #gangs: GivenGang<At>[] = [];
  readonly #pods = new Map<string, GivenPods<At>>();
  readonly #asking: GivenPods<At>[] = [];
  readonly #names = new Set<string>();
  readonly #findings: Finding[] = [];
  readonly #told = new Map<NoticeName, number>();
  readonly #starts: StartCheck;

  /**
   * @param namespace of objects without one
   * @param kinds workloads whose Pods may ask for a gang; default: the built-in kinds
   */
  constructor(namespace: string, exempt: ReadonlySet<string>, kinds?: readonly GangKind[]) {
    this.#namespace = namespace;
    this.#exempt = exempt;
    this.#kinds = kinds;
    this.#starts = new StartCheck(namespace, kinds);
  }

  /** Adds an object. @param alone whether to check the object by itself as well */
  add(source: SourceObject, alone = true): void {
    const { object } = source;
    const templates = podTemplatesOf(object, this.#kinds);
    this.#addSlips(
      source,
      alone ? slipsIn(object, templates, (path) => source.written(path)) : keySlips(object, templates),
    );
    const isOfGrove = kindAmong(templateKinds, object)?.kind === 'PodCliqueSet';
    if (isOfGrove) this.#tell('MadeByGrove', { source, root: '' }, 'kind', 'PodCliqueSet');
    const idle = this.#starts.add(object);
    if (idle !== undefined) this.#tell('NoPodsYet', { source, root: '' }, idle, LABEL_GANG);
    const [apiVersion, kind] = [ownString(object, 'apiVersion'), ownString(object, 'kind')];
    const namespace = ownString(own(object, 'metadata'), 'namespace') || this.#namespace;
    if (apiVersion === POD_GANG_API_VERSION && kind === POD_GANG_KIND) this.#addGang(source, namespace);
    else if (apiVersion === 'v1' && kind === 'Pod') {
      this.#checkTwice(source, 'Pod', namespace);
      this.#addPods(source, namespace, { path: '', template: object, pods: 1 });
    } else {
      for (const template of templates) this.#addPods(source, namespace, template);
      this.#addAsking(source, namespace);
    }
  }

  /** Adds the Pods of a workload that asks for a gang: they are compared where the input has a PodGang of that name. */
  #addAsking(source: SourceObject, namespace: string): void {
    const asking = askingWorkload(source.object, this.#kinds);
    if (asking === undefined || this.#exempt.has(namespace)) return;
    const controlled = controlledPods(source.object, this.#kinds);
    for (const { template, path: root, pods: count, oneByOne } of asking.templates) {
      const pod = controlled(podFromTemplate(template, { name: '', namespace }), template);
      const told = namesOf(marksOf(pod), this.#kinds);
      if (told.is !== 'given') continue;
      const { gang, group } = told;
      const scheduler = ownString(own(own(template, 'metadata'), 'labels'), LABEL_SCHEDULER_NAME);
      const at = { source, root };
      this.#asking.push({ namespace, gang, group, baseGang: undefined, scheduler, count, oneByOne, at });
    }
  }

  /** Whether `--strict` fails: a gang of the input cannot start, or there is a warning. */
  isBroken(findings: readonly Finding[]): boolean {
    return this.#starts.neverStarts || findings.some(({ severity }) => severity === 'warning');
  }

  /** All findings in the order of the input; mismatches between objects come last. */
  findings(): readonly Finding[] {
    const written = new Set(this.#gangs.map(({ namespace, name }) => `${namespace}/${name}`));
    const asking = this.#asking.filter(({ namespace, gang }) => written.has(`${namespace}/${gang}`));
    for (const { rule, at, path, about } of compareGangs(this.#gangs, [...this.#pods.values(), ...asking])) {
      this.#tell(rule, rule === 'PodsOneByOne' ? { ...at, root: '' } : at, path, about);
    }
    const more = [...this.#told].filter(([, times]) => times > MOST_OF_A_RULE);
    const [last] = this.#findings.slice(-1);
    if (last === undefined || more.length === 0) return this.#findings;
    const message = `not shown: ${more.map(([rule, times]) => `${times - MOST_OF_A_RULE} more of ${rule}`).join(', ')}`;
    return [
      ...this.#findings,
      { ...last, line: 0, column: 0, severity: 'note', path: '', message, rule: 'More' },
    ];
  }

  #tell(rule: NoticeName, { source, root }: At, path: string, about: string): void {
    const times = (this.#told.get(rule) ?? 0) + 1;
    this.#told.set(rule, times);
    if (times > MOST_OF_A_RULE) return;
    const whole = root === '' ? path : `${root}.${path}`;
    const { severity } = notices[rule];
    const message = noticeText(rule, about);
    this.#findings.push({ file: source.file, ...source.locate(whole), severity, path: whole, message, rule });
  }

  #addSlips(source: SourceObject, slips: readonly Slip[]): void {
    for (const { rule, path, about } of slips) this.#tell(rule, { source, root: '' }, path, about);
  }

  #checkTwice(source: SourceObject, kind: string, namespace: string): void {
    const name = ownString(own(source.object, 'metadata'), 'name');
    if (!name) return;
    const key = `${kind} ${namespace}/${name}`;
    if (this.#names.has(key)) this.#tell('GivenTwice', { source, root: '' }, 'metadata.name', key);
    this.#names.add(key);
  }

  #addGang(source: SourceObject, namespace: string): void {
    const { gang } = parsePodGang(source.object, namespace);
    this.#checkTwice(source, POD_GANG_KIND, namespace);
    this.#gangs.push({
      namespace,
      name: gang.name,
      scheduler: gang.labels.get(LABEL_SCHEDULER_NAME),
      groups: gang.spec.groups,
      at: { source, root: '' },
    });
  }

  #addPods(source: SourceObject, namespace: string, given: PodTemplate): void {
    const { path: root, template, pods, oneByOne } = given;
    const labels = own(own(template, 'metadata'), 'labels');
    const label = (key: string): string | undefined => ownString(labels, key);
    // The Pods of a workload that asks for a gang are added by #addAsking.
    if (!claimsGang(label)) return;
    const { gang, group, baseGang } = membershipOf(namespace, label);
    // The review itself refuses empty names.
    if (gang === '' || group === '') return;
    const at = { source, root };
    if (this.#exempt.has(namespace)) {
      const told = `exempt ${namespace}/${gang}/${group}`;
      const path = keyed('metadata.labels', LABEL_POD_GANG);
      if (!this.#names.has(told)) this.#tell('NamespaceExempt', at, path, namespace);
      this.#names.add(told);
      return;
    }
    const scheduler = label(LABEL_SCHEDULER_NAME);
    const key = JSON.stringify([namespace, gang, group, scheduler, baseGang, oneByOne?.field]);
    const before = this.#pods.get(key);
    if (before !== undefined) {
      const count = before.count === undefined || pods === undefined ? undefined : before.count + pods;
      this.#pods.set(key, { ...before, count });
      return;
    }
    this.#pods.set(key, { namespace, gang, group, baseGang, scheduler, count: pods, oneByOne, at });
  }
}
