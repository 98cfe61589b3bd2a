import { own, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { messageOf } from '../errors.ts';
import type { Decision } from '../admission/review.ts';
import type { Backend } from '../backends/backend.ts';
import { broken, type ConformanceRule } from './check.ts';
import { contextOn, MemoryCluster, sync, TROUBLES } from './memory-cluster.ts';
import { withChanges } from './prepare-checks.ts';
import type { StoredGang } from './sample-gangs.ts';
import { samplePod } from './sample-pods.ts';
import { admitted, type Subject } from './subject.ts';
import { gangFor, ODD_NAMES, synced, type Scene } from './sync-rules.ts';

/** Number of calls of one sync that fail, each in a run of its own. */
const MOST_CALLS = 8;
/** How long (ms) a call stays unanswered, and how long (ms) a backend may take to end after the abort. */
const SILENCE_MS = 20;
const GIVE_UP_MS = 1_000;

/** The gang with a higher minimum in its first group. */
const grown = (gang: StoredGang): StoredGang => ({
  ...gang,
  spec: {
    ...gang.spec,
    groups: gang.spec.groups.map((group, index) =>
      index === 0 ? { ...group, minReplicas: group.minReplicas + 1 } : group,
    ),
  },
});

/** A sync that creates the objects, and one that patches them after a change of the gang. */
const STAGES = ['creating', 'updating'] as const;

async function stage(subject: Subject, which: (typeof STAGES)[number]): Promise<Omit<Scene, 'applied'>> {
  if (which === 'creating') return { ...(await gangFor(subject)), cluster: new MemoryCluster() };
  const { backend, cluster, gang } = await synced(subject);
  return { backend, cluster, gang: grown(gang) };
}

export const troubleRules: readonly ConformanceRule<Subject>[] = [
  {
    name: 'sync-trouble',
    rule: 'when the API server refuses, fails or gives no answer, syncPodGang() rejects or copes, and the next one puts all right',
    needs: ['sync-writes-once'],
    look: async (subject) => {
      for (const which of STAGES) {
        const healthy = await stage(subject, which);
        const began = healthy.cluster.calls;
        await sync(healthy.backend, healthy.cluster, healthy.gang);
        const calls = Math.min(MOST_CALLS, healthy.cluster.calls - began);
        for (const what of TROUBLES) {
          for (let at = 0; at < calls; at += 1) {
            const { backend, cluster, gang } = await stage(subject, which);
            const told = `${what} for call ${at + 1} while ${which}`;
            cluster.trouble = { at: cluster.calls + at, what };
            const failed = await sync(backend, cluster, gang).then(
              () => undefined,
              (thrown: unknown) => messageOf(thrown),
            );
            if (failed !== undefined && /did not answer within/.test(failed))
              throw broken(`${told}: ${failed}`);
            if (failed === undefined && cluster.picture() !== healthy.cluster.picture())
              throw broken(
                `${told}: it resolved though its objects are not as they should be, so the gang would be let go`,
              );
            cluster.trouble = undefined;
            await sync(backend, cluster, gang);
            if (cluster.picture() !== healthy.cluster.picture())
              throw broken(`${told}: the next sync did not make the same objects as without the trouble`);
          }
        }
      }
      return undefined;
    },
  },
  {
    name: 'sync-signal',
    rule: 'syncPodGang() ends soon after its signal is aborted',
    needs: ['sync-works'],
    look: async (subject) => {
      const { backend, gang } = await gangFor(subject);
      const cluster = new MemoryCluster();
      cluster.trouble = { at: 0, what: 'silence' };
      if (!(await givesUp(backend, cluster, gang)))
        throw broken(`it was still at work ${GIVE_UP_MS} ms after the signal was aborted`);
      return undefined;
    },
  },
  {
    name: 'names-agree',
    rule: 'where preparePod() writes the name of an object into the Pod, it is the name that syncPodGang() gives it, for odd names too',
    needs: ['sync-names', 'patch-surface', 'sync-same'],
    look: async (subject) => {
      const usual = await references(subject, 'train');
      for (const name of ODD_NAMES) {
        const { written, objects } = await references(subject, name);
        for (const [place, value] of usual.written) {
          const now = written.get(place);
          if (!usual.objects.has(value) || now === undefined || objects.has(now)) continue;
          throw broken(
            `for PodGang ${name} it writes ${JSON.stringify(now)} into ${place}, and there is no such object (${[...objects].join(', ')})`,
          );
        }
      }
      const shared =
        usual.objects.size > 0 && [...usual.written.values()].find((value) => usual.objects.has(value));
      return shared === 'train'
        ? 'gangs of one name in two namespaces write the same name into their Pods: right where the scheduler looks in the Pod’s namespace'
        : undefined;
    },
  },
];

async function givesUp(backend: Backend, cluster: MemoryCluster, gang: StoredGang): Promise<boolean> {
  const ending = new AbortController();
  const { context } = contextOn(cluster, gang, ending.signal);
  const work = Promise.resolve()
    .then(() => backend.syncPodGang(context, gang))
    .then(
      () => true,
      () => true,
    );
  let timer: NodeJS.Timeout | undefined;
  const after = (ms: number, then: () => void): void => void (timer = setTimeout(then, ms));
  const given = new Promise<boolean>((resolve) => {
    after(SILENCE_MS, () => {
      ending.abort(new Error('Muster gave up'));
      after(GIVE_UP_MS, () => resolve(false));
    });
  });
  try {
    return await Promise.race([work, given]);
  } finally {
    clearTimeout(timer);
  }
}

/** The texts that a prepared Pod gains, by field, and the names of the gang's objects. */
async function references(subject: Subject, name: string) {
  const { backend, gang } = await gangFor(subject, { name });
  const { policy } = await subject.enabled();
  const pod = samplePod(name, gang.spec.groups[0]?.name ?? '');
  const decision: Decision = admitted(pod, policy);
  const [before, after] = [textsIn(pod), textsIn(withChanges(pod, decision))];
  const written = new Map([...after].filter(([place, value]) => before.get(place) !== value));
  const objects = new Set((await sync(backend, new MemoryCluster(), gang)).map((object) => object.name));
  return { written, objects };
}

function textsIn(pod: JsonObject): Map<string, string> {
  const found = new Map<string, string>();
  const { metadata, spec } = pod;
  for (const key of ['labels', 'annotations']) {
    for (const name of Object.keys(ownObject(metadata, key) ?? {}))
      found.set(`metadata.${key}[${name}]`, ownString(ownObject(metadata, key), name) ?? '');
  }
  const links: readonly (readonly [string, string])[] = [
    ['schedulingGroup', 'podGroupName'],
    ['workloadRef', 'name'],
  ];
  for (const [key, field] of links) {
    const value = ownString(own(spec, key), field);
    if (value !== undefined) found.set(`spec.${key}.${field}`, value);
  }
  return found;
}
