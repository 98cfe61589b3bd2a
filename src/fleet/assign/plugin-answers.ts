import { decideWithNeeds, Needs, type MayNeed } from '../../api/needs.ts';
import { messageOf } from '../../errors.ts';
import { ANSWER_RULES, targetsIn } from './answer-rules.ts';
import { strategyQuestion, type StrategyQuestion } from './assign-replica-plugin.ts';
import type { Binding } from './binding.ts';
import type { Assigner } from './assigner.ts';
import { Unplaced, type Candidate, type TargetCluster } from './candidate.ts';
import { gangStrategies, bindingTemplates } from './gang-strategies.ts';
import type { Strategies } from './strategies.ts';

/** A third party's plugin in another process. Its answers are asynchronous and are checked. */
export interface RemotePlugin {
  readonly name: string;
  strategies(): readonly string[];
  /** @throws Error with the reason why there is no answer */
  ask(question: StrategyQuestion): Promise<unknown>;
}

/** Questions about one binding at most: one for each of its affinity groups, and more when capacity changes meanwhile. */
const MOST_QUESTIONS = 64;

/** Clusters that a message lists at most when none gets any replica. */
const MOST_NAMED = 10;

/**
 * Thrown inside `judge` when a plugin's answer is needed first; {@link withPluginAnswers} catches it and asks the plugin.
 */
class Unanswered extends Error {
  readonly key: string;
  readonly ask: () => Promise<unknown>;

  constructor(key: string, ask: () => Promise<unknown>) {
    super('the answer of a plugin has not been asked for');
    this.key = key;
    this.ask = ask;
  }
}

/** Answer to one question; `failed`: the reason why there is none. */
type Answer = { readonly said: unknown } | { readonly failed: string };

type Answers = ReadonlyMap<string, Answer>;

const answersOf = new WeakMap<Assigner, RemotePlugin>();

/** The plugin as an Assigner. It works only within {@link withPluginAnswers}. */
export function remoteAssigner(plugin: RemotePlugin): Assigner {
  const assigner = assignerWith(plugin, new Map());
  answersOf.set(assigner, plugin);
  return assigner;
}

/**
 * Result of `judge` once every plugin that it needs has answered. `judge` is called again after each answer, with the state
 * of that moment; an answer is used only for exactly the question that it was given to. Work that must not be interleaved
 * with other work belongs in `judge`, which is synchronous.
 */
export async function withPluginAnswers<T>(
  strategies: Strategies,
  judge: (strategies: Strategies) => T,
): Promise<T> {
  const decide = (answers: Answers): MayNeed<T, Unanswered> => {
    try {
      return judge({
        names: strategies.names,
        missing: strategies.missing,
        pluginOf: (strategy) => {
          const assigner = strategies.pluginOf(strategy);
          const plugin = assigner && answersOf.get(assigner);
          return plugin === undefined ? assigner : assignerWith(plugin, answers);
        },
      });
    } catch (thrown) {
      if (thrown instanceof Unanswered) return new Needs(thrown);
      throw thrown;
    }
  };
  const answer = async ({ key, ask }: Unanswered, answers: Answers): Promise<Answers> =>
    new Map(answers).set(
      key,
      await ask().then(
        (said): Answer => ({ said }),
        (error: unknown): Answer => ({ failed: messageOf(error) }),
      ),
    );
  // `assignReplica` throws for a question beyond the limit, so this is not reached.
  const exhausted = (needs: Unanswered): never => {
    throw needs;
  };
  return decideWithNeeds({ decide, answer, known: new Map(), rounds: MOST_QUESTIONS, exhausted });
}

const assignerWith = (plugin: RemotePlugin, answers: Answers): Assigner => ({
  name: plugin.name,
  strategies: () => plugin.strategies(),
  // Capacity is counted as for gangs: the minimum has to fit, and resources that no model names are read from the summary.
  ...(gangStrategies.room && { room: gangStrategies.room }),
  assignReplica: (strategy, clusters, binding) => {
    // An object without Pods, such as a ConfigMap, goes to every cluster.
    const templates = bindingTemplates(binding);
    if (templates.length === 0) return clusters.map(({ name }) => ({ name, replicas: 0 }));
    if (templates.every(({ replicas }) => replicas === 0)) return [];
    const question = strategyQuestion(strategy, clusters, binding);
    const key = JSON.stringify(question);
    const answer = answers.get(key);
    const who = `strategy "${strategy}" of plugin ${plugin.name}`;
    if (answer === undefined) {
      if (answers.size < MOST_QUESTIONS) throw new Unanswered(key, () => plugin.ask(question));
      const why = 'the room of clusters changes faster than it answers';
      throw new Unplaced('SchedulerError', `${who} was asked ${MOST_QUESTIONS} times: ${why}`);
    }
    if ('failed' in answer) throw new Unplaced('SchedulerError', `${who} gives no answer: ${answer.failed}`);
    return judged(who, answer.said, clusters, binding);
  },
});

/** @throws Unplaced when the answer places nothing or breaks a rule */
function judged(
  who: string,
  said: unknown,
  clusters: readonly Candidate[],
  binding: Binding,
): readonly TargetCluster[] {
  let targets: readonly TargetCluster[];
  try {
    targets = targetsIn(said, binding);
  } catch (thrown) {
    throw new Unplaced('SchedulerError', `${who} gives what cannot be: ${messageOf(thrown)}`);
  }
  for (const { fault } of ANSWER_RULES) {
    const why = fault(targets, { clusters, binding });
    if (why !== undefined) throw new Unplaced('SchedulerError', `${who} gives what cannot be: ${why}`);
  }
  if (targets.length > 0) return targets;
  const room = clusters.map(({ name, available }) => `${name} ${available}`);
  throw new Unplaced(
    'Unschedulable',
    `no available scheduling results: ${who} gives no cluster anything (available: ${room.slice(0, MOST_NAMED).join(', ')}${room.length > MOST_NAMED ? ' …' : ''})`,
  );
}
