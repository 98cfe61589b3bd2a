import { ANSWER_RULES, SHAPE_RULE, targetsIn } from '../fleet/assign/answer-rules.ts';
import type { TargetCluster } from '../fleet/assign/candidate.ts';
import { bindingTemplates } from '../fleet/assign/gang-strategies.ts';
import { builtInStrategies } from '../fleet/assign/strategies.ts';
import { isLabelValue } from '../k8s/name-syntax.ts';
import { quoted } from '../text/printable.ts';
import { messageOf } from '../errors.ts';
import { broken, type ConformanceRule } from './check.ts';
import { samples, settledIn, describeSample, type Sample } from './strategy-samples.ts';

/** The strategies that are checked. */
export interface StrategySubject {
  readonly name: string;
  /** Return value of the plugin's `strategies()`. */
  readonly strategies: () => unknown;
  /**
   * Asks the plugin.
   * @returns the answer as JSON.
   * @throws the plugin's own error
   */
  readonly ask: (strategy: string, sample: Sample) => Promise<unknown>;
  /** How long (ms) an answer may take: as long as Muster waits. */
  readonly deadlineMs: number;
}

/** Thrown where no answer comes within the deadline. */
class Late extends Error {}

export const strategyRules: readonly ConformanceRule<StrategySubject>[] = [
  {
    name: 'names',
    rule: 'name and strategies() are names of at most 63 letters, digits, "-", "_" or ".", each once, and none of Muster’s own',
    look: ({ name, strategies }) => {
      if (!isLabelValue(name)) throw broken(`its name is ${quoted(name)}`);
      const found: unknown = strategies();
      if (!Array.isArray(found) || found.length === 0)
        throw broken('strategies() returns no list with a name in it');
      const own = builtInStrategies().names;
      for (const [index, one] of (found as readonly unknown[]).entries()) {
        if (typeof one !== 'string' || !isLabelValue(one)) throw broken(`strategies() names ${quoted(one)}`);
        if (own.includes(one)) throw broken(`strategies() names ${quoted(one)}, which comes with Muster`);
        if (found.indexOf(one) < index) throw broken(`strategies() names ${quoted(one)} twice`);
      }
      return `${found.length === 1 ? 'its strategy' : 'its strategies'}: ${found.join(', ')}`;
    },
  },
  {
    name: 'in-time',
    rule: 'assignReplica() answers in time, for a thousand clusters as well',
    needs: ['names'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        await asked(subject, strategy, sample).catch((thrown: unknown) => {
          if (thrown instanceof Late) throw broken(`${thrown.message}, ${describeSample(sample)}`);
        });
      }),
  },
  {
    name: 'no-throw',
    rule: 'assignReplica() throws nothing: where there is no result its answer is an empty list',
    needs: ['in-time'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        await asked(subject, strategy, sample).catch((thrown: unknown) => {
          throw broken(`it throws "${messageOf(thrown)}", ${describeSample(sample)}`);
        });
      }),
  },
  {
    ...SHAPE_RULE,
    needs: ['no-throw'],
    look: (subject) =>
      each(subject, async (strategy, sample) => void (await targetsFor(subject, strategy, sample))),
  },
  ...ANSWER_RULES.map(({ name, rule, fault }): ConformanceRule<StrategySubject> => ({
    name,
    rule,
    needs: ['shape'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        const why = fault(await targetsFor(subject, strategy, sample), sample);
        if (why !== undefined) throw broken(`${why}, ${describeSample(sample)}`);
      }),
  })),
  {
    name: 'places',
    rule: 'a workload of one template gets its replicas where every cluster has room for all of them',
    needs: ['shape'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        if (sample.ample && (await targetsFor(subject, strategy, sample)).length === 0)
          throw broken(`it gives no cluster anything, ${describeSample(sample)}`);
      }),
  },
  {
    name: 'repeatable',
    rule: 'the same question has the same answer: no clock, no dice, nothing remembered',
    needs: ['shape'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        const first = await targetsFor(subject, strategy, sample);
        checkSame(first, await targetsFor(subject, strategy, sample), 'then', sample);
      }),
  },
  {
    name: 'order',
    rule: 'the order of the clusters that it is given is irrelevant',
    needs: ['repeatable'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        const turned = { ...sample, clusters: [...sample.clusters].reverse() };
        const first = await targetsFor(subject, strategy, sample);
        checkSame(first, await targetsFor(subject, strategy, turned), 'in reverse order', sample);
      }),
  },
  {
    name: 'settled',
    rule: 'asked again about what it has placed, it leaves it where it is',
    needs: ['repeatable', 'available', 'interval', 'given-clusters'],
    look: (subject) =>
      each(subject, async (strategy, sample) => {
        if (bindingTemplates(sample.binding).length > 1) return;
        const first = await targetsFor(subject, strategy, sample);
        if (first.length === 0) return;
        const second = await targetsFor(subject, strategy, settledIn(sample, first));
        checkSame(first, second, 'with that in place', sample);
      }),
  },
];

const SAMPLES = samples();

/** Calls `look` with every sample and every strategy. */
async function each(
  { strategies }: StrategySubject,
  look: (strategy: string, sample: Sample) => Promise<void>,
): Promise<undefined> {
  for (const strategy of strategies() as readonly string[])
    for (const sample of SAMPLES) await look(strategy, sample);
}

/** Asks with the deadline. @throws Late after the deadline; the plugin's own error */
async function asked(subject: StrategySubject, strategy: string, sample: Sample): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const why = `it does not answer within ${subject.deadlineMs / 1000} s`;
    timer = setTimeout(() => reject(new Late(why)), subject.deadlineMs);
  });
  try {
    return await Promise.race([subject.ask(strategy, sample), late]);
  } finally {
    clearTimeout(timer);
  }
}

type Targets = readonly TargetCluster[];

async function targetsFor(subject: StrategySubject, strategy: string, sample: Sample): Promise<Targets> {
  const answer = await asked(subject, strategy, sample);
  try {
    return targetsIn(answer, sample.binding);
  } catch (thrown) {
    throw broken(`${messageOf(thrown)}, ${describeSample(sample)}`);
  }
}

/** @param when circumstances of the second answer, for the message */
function checkSame(first: Targets, second: Targets, when: string, sample: Sample): void {
  const [one, other] = [shown(first), shown(second)];
  if (one !== other) throw broken(`it gives ${one}, and ${when} ${other}, ${describeSample(sample)}`);
}

/** `m1 3, m2 5`, sorted by name. */
const shown = (targets: Targets): string =>
  [...targets]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, replicas, components = [] }) =>
      components.length > 1
        ? `${name} (${components.map((one) => `${one.name} ${one.replicas}`).join(', ')})`
        : `${name} ${replicas}`,
    )
    .join(', ') || 'nothing';
