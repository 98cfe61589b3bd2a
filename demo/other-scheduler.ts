import { LABEL_SCHEDULER_NAME } from '../src/api/names.ts';
import { isGated, NAMESPACE, pod, podGang, preparedParts } from './objects.ts';
import type { Stage, StoredPod } from './stage.ts';

/** A change of scheduler for a whole team. KAI is not there, so what it would get is shown by dry runs. */
export async function otherScheduler(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('The team moves to another scheduler: new gangs do, running ones stay');
  tell.say(
    'KAI is not installed here, so these are dry runs: they show what would be stored, and store nothing.',
  );
  await stage.kubectl(['annotate', 'namespace', NAMESPACE, `${LABEL_SCHEDULER_NAME}=kai-scheduler`]);
  const gang = podGang({}, {}, 'next');
  const moved = await stage.within(async () => labelOf(await stage.dryRun(gang)) === 'kai-scheduler');
  tell.command('kubectl create --dry-run=server -o yaml -f next.yaml   # a new PodGang: what Muster adds');
  tell.output(preparedParts(gang, await stage.dryRun(gang)));
  const member = pod('next-leader', 'leader', { gang: 'next' });
  tell.command('kubectl create --dry-run=server -o yaml -f next-leader.yaml   # a Pod of it');
  const stored = await stage.dryRun(member);
  tell.output(preparedParts(member, stored));
  tell.check(
    'prepared for KAI, and gated',
    moved && (stored as StoredPod).spec.schedulerName === 'kai-scheduler' && isGated(stored),
  );
  const found = await stage.kubectl(['get', 'podgang', 'next']);
  tell.check('nothing was stored', found.code !== 0);

  await stage.create(pod('worker-4', 'worker'));
  const stays = await stage.within(async () => {
    const { spec } = (await stage.get('Pod', 'worker-4')) as StoredPod;
    return spec.schedulerName === 'default-scheduler' && spec.nodeName !== undefined;
  });
  await stage.kubectl(['get', 'pod', 'worker-4', '-o', COLUMNS]);
  tell.check('a new Pod of the running gang goes where its gang is', stays);
}

const COLUMNS = 'custom-columns=NAME:.metadata.name,SCHEDULER:.spec.schedulerName,NODE:.spec.nodeName';

const labelOf = (stored: unknown): string | undefined =>
  (stored as { metadata?: { labels?: Record<string, string> } }).metadata?.labels?.[LABEL_SCHEDULER_NAME];
