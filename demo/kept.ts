import { GANG, mistakes, pod, podGang, yamlOf } from './objects.ts';
import type { Stage } from './stage.ts';

export async function mistakesRefused(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('Mistakes are refused with what is wrong, the rule, and the way out');
  for (const { title, manifest, says } of mistakes) {
    tell.say(`${title}:`);
    const result = await stage.create(manifest, 'mistake.yaml');
    tell.check('refused', result.code !== 0 && result.stderr.includes(says));
  }
  const ordinary = pod('web', 'x', { labels: { app: 'web' } });
  await stage.create(ordinary, 'web.yaml   # a Pod of no gang');
  // The log comes in blocks, in order: with the line of a later review all earlier ones are there.
  const seen = (name: string): boolean => stage.serving.decisions().some((line) => line['name'] === name);
  await stage.dryRun(pod('afterwards', 'leader'));
  const logged = await stage.within(() => Promise.resolve(seen('afterwards')));
  tell.check('Muster was not even called for it', logged && !seen('web'));
}

const INITIALIZED = JSON.stringify({
  status: {
    phase: 'Pending',
    conditions: [
      {
        type: 'Initialized',
        status: 'False',
        reason: 'Forced',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
});
export const GATES_OFF = '[{"op":"remove","path":"/spec/schedulingGates"}]';

export async function protectedThings(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('What the loop has written stays written, and a gate stays on');
  await stage.create(podGang({}, {}, 'eval'), 'eval.yaml');
  await stage.create(pod('eval-leader', 'leader', { gang: 'eval' }));
  for (let round = 0; round < 2; round += 1) {
    await stage.kubectl(['apply', '-f', '-'], 'apply -f podgang.yaml', yamlOf(podGang()));
  }
  const gang = (await stage.get('PodGang', GANG)) as { spec: { podgroups: { podReferences: unknown[] }[] } };
  const counts = gang.spec.podgroups.map(({ podReferences }) => podReferences.length);
  tell.check('applied twice, and the references are still there', counts.join() === '1,3');
  const attempts: [shown: string, args: string[]][] = [
    [
      'label pod eval-leader grove.io/podgang=other --overwrite',
      ['label', 'pod', 'eval-leader', 'grove.io/podgang=other', '--overwrite'],
    ],
    [
      `patch pod eval-leader --type=json -p '${GATES_OFF}'`,
      ['patch', 'pod', 'eval-leader', '--type=json', '-p', GATES_OFF],
    ],
    [
      `patch podgang ${GANG} --subresource=status …   # Initialized=False`,
      ['patch', 'podgang', GANG, '--subresource=status', '--type=merge', '-p', INITIALIZED],
    ],
  ];
  for (const [shown, args] of attempts) {
    const result = await stage.kubectl(args, shown);
    tell.check('refused, even for an administrator', result.code !== 0);
  }
}
