import { decideWithNeeds, Needs, type MayNeed } from '../../api/needs.ts';
import { messageOf } from '../../errors.ts';
import { ANSWER_RULES, targetsIn } from './answer-rules.ts';
import { strategyQuestion, type StrategyQuestion } from './assign-replica-plugin.ts';
import type { Binding } from './binding.ts';
import type { Assigner } from './assigner.ts';
import { Unplaced, type Candidate, type TargetCluster } from './candidate.ts';
import { gangStrategies, bindingTemplates } from './gang-strategies.ts';
import type { Strategies } from './strategies.ts';

/** A third party's plugin in another process: its answers are awaited and checked. */
export interface RemotePlugin {
  readonly name: string;
  strategies(): readonly string[];
  /** @throws Error with the reason why there is no answer */
  ask(question: StrategyQuestion): Promise<unknown>;
}

/** So many questions about one binding: its groups of clusters, and some more where room changes meanwhile. */
const MOST_QUESTIONS = 64;

/** So many clusters are named where none gets anything. */
const MOST_NAMED = 10;

/** Leaves a judgement whose plugin has not been asked yet; {@link withPluginAnswers} makes it what is needed. */
class Unanswered extends Error {
  readonly key: string;
  readonly ask: () => Promise<unknown>;

  constructor(key: string, ask: () => Promise<unknown>) {
    super('the answer of a plugin has not been asked for');
    this.key = key;
    this.ask = ask;
  }
}

/** What was answered to one question; `failed` where there is no answer, and why. */
type Answer = { readonly said: unknown } | { readonly failed: string };

type Answers = ReadonlyMap<string, Answer>;

const answersOf = new WeakMap<Assigner, RemotePlugin>();

/** The plugin as an assigner like any other, which is of use within {@link withPluginAnswers}. */
export function remoteAssigner(plugin: RemotePlugin): Assigner {
  const assigner = assignerWith(plugin, new Map());
  answersOf.set(assigner, plugin);
  return assigner;
}

/**
 * What `judge` comes to, with the answers of plugins that have to be asked first. It is called until all are there, each
 * time anew: what it comes to goes by the state of that moment, and an answer counts for exactly the question that it was
 * given to. What has to be done before anybody else gets a turn is done in `judge`.
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
  // One question more is refused where it is asked.
  const exhausted = (needs: Unanswered): never => {
    throw needs;
  };
  return decideWithNeeds({ decide, answer, known: new Map(), rounds: MOST_QUESTIONS, exhausted });
}

const assignerWith = (plugin: RemotePlugin, answers: Answers): Assigner => ({
  name: plugin.name,
  strategies: () => plugin.strategies(),
  // Of a gang the least is enough, and what no model of a cluster names is there all the same.
  ...(gangStrategies.room && { room: gangStrategies.room }),
  assignReplica: (strategy, clusters, binding) => {
    // A ConfigMap, or what else has no Pods, is everywhere.
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

/** @throws Unplaced where it gives nothing, or what must not be written */
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
