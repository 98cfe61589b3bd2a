import { own, ownList, ownString } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';
import type { Binding } from './binding.ts';
import type { Candidate, ComponentReplicas, TargetCluster } from './candidate.ts';
import { fitsIn, minAvailableFor, bindingTemplates } from './gang-strategies.ts';

/** The question to a plugin, in Muster's own types. */
export interface AnsweredQuestion {
  readonly clusters: readonly Candidate[];
  readonly binding: Binding;
}

/** A rule that every answer of a plugin has to keep. */
export interface AnswerRule {
  readonly name: string;
  /** The rule in one sentence. */
  readonly rule: string;
  /** The fault of an answer; undefined when it keeps the rule. */
  readonly fault: (targets: readonly TargetCluster[], asked: AnsweredQuestion) => string | undefined;
}

/** Checked in this order: each rule relies on the ones before it. */
export const ANSWER_RULES: readonly AnswerRule[] = [
  {
    name: 'given-clusters',
    rule: 'only clusters that were given get anything, each once: no filtered cluster ever does',
    fault: (targets, { clusters }) => {
      const given = new Set(clusters.map(({ name }) => name));
      const foreign = targets.find(({ name }) => !given.has(name));
      if (foreign !== undefined) return `it names cluster ${quoted(foreign.name)}, which was not given`;
      const twice = targets.find(({ name }, at) => targets.findIndex((one) => one.name === name) < at);
      return twice && `it names cluster ${quoted(twice.name)} twice`;
    },
  },
  {
    name: 'available',
    rule: 'no cluster gets more than is available there',
    fault: (targets, asked) => {
      for (const target of targets) {
        const candidate = asked.clusters.find(({ name }) => name === target.name);
        const why = candidate && tooMuch(candidate, target, asked.binding);
        if (why !== undefined) return why;
      }
      return undefined;
    },
  },
  {
    name: 'interval',
    rule: 'the sum over all clusters is a number from minAvailable to replicas, of each template, or nothing at all',
    fault: (targets, { binding }) => {
      if (targets.length === 0) return undefined;
      for (const template of bindingTemplates(binding)) {
        const { replicas, name } = template;
        const least = minAvailableFor(binding, template);
        const sum = targets.reduce((all, target) => all + countIn(target, name), 0);
        const of = name === '' ? '' : ` of ${quoted(name)}`;
        if (sum < least || sum > replicas)
          return `it gives ${sum} replicas${of} in all, which must be from ${least} to ${replicas}, or an empty list`;
      }
      return undefined;
    },
  },
];

/** Name and text of the rule that {@link targetsIn} checks. */
export const SHAPE_RULE = {
  name: 'shape',
  rule: 'an answer is a list of { name, replicas }, for several templates of { name, components: [{ name, replicas }] }, in whole numbers',
};

/**
 * Converts an answer into target clusters for a binding, without clusters that get no replicas.
 * @throws Error that names the fault in the answer's shape
 */
export function targetsIn(answer: unknown, binding: Binding): readonly TargetCluster[] {
  if (!Array.isArray(answer)) throw new Error('its answer is no list');
  const templates = bindingTemplates(binding);
  return (answer as readonly unknown[])
    .map((one) => targetOf(one, templates.length > 1 ? templates.map(({ name }) => name) : undefined))
    .filter(({ replicas, components = [] }) => replicas > 0 || components.some((one) => one.replicas > 0))
    .map((target) =>
      // When the only template of a workload is listed as a component, the target cluster lists it as a component too.
      binding.components.length === 1 && templates[0] !== undefined
        ? { ...target, components: [{ name: templates[0].name, replicas: target.replicas }] }
        : target,
    );
}

function targetOf(value: unknown, templates: readonly string[] | undefined): TargetCluster {
  const name = ownString(value, 'name');
  if (name === undefined) throw new Error('its answer has an item without the name of a cluster');
  if (templates === undefined) return { name, replicas: countOf(value, quoted(name)) };
  const components = (ownList(value, 'components') ?? []).map((one): ComponentReplicas => ({
    name: ownString(one, 'name') ?? '',
    replicas: countOf(one, `${quoted(name)}, template ${quoted(ownString(one, 'name'))}`),
  }));
  const foreign = components.find((one) => !templates.includes(one.name));
  if (foreign !== undefined)
    throw new Error(
      `its answer for ${quoted(name)} names a template ${quoted(foreign.name)} that there is not`,
    );
  if (components.length !== new Set(components.map((one) => one.name)).size)
    throw new Error(`its answer for ${quoted(name)} names a template twice`);
  return {
    name,
    replicas: 0,
    components: templates.map(
      (template) => components.find((one) => one.name === template) ?? { name: template, replicas: 0 },
    ),
  };
}

function countOf(value: unknown, what: string): number {
  const replicas = own(value, 'replicas');
  if (typeof replicas === 'number' && Number.isSafeInteger(replicas) && replicas >= 0) return replicas;
  throw new Error(`its answer for ${what} has replicas ${quoted(replicas)}, which is no whole number from 0`);
}

const countIn = ({ replicas, components }: TargetCluster, template: string): number =>
  components === undefined ? replicas : (components.find(({ name }) => name === template)?.replicas ?? 0);

function tooMuch(candidate: Candidate, target: TargetCluster, binding: Binding): string | undefined {
  const { name, available } = candidate;
  if (binding.components.length <= 1)
    return target.replicas > available
      ? `it gives ${target.replicas} replicas to ${quoted(name)}, and ${available} are available there`
      : undefined;
  const counts = binding.components.map((one) => countIn(target, one.name));
  const said = binding.components.map((one, index) => `${one.name} ${counts[index] ?? 0}`).join(', ');
  return fitsIn(candidate, binding, counts)
    ? undefined
    : `it gives ${said} to ${quoted(name)}, and so much is not available there`;
}
