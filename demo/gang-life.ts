import { LABEL_POD_GANG } from '../src/api/names.ts';
import { GANG, isGated, NAMESPACE, pod, podGang, preparedParts, yamlOf } from './objects.ts';
import type { Stage } from './stage.ts';

const MEMBERS = `${LABEL_POD_GANG}=${GANG}`;
const NATIVE = 'workloads.scheduling.k8s.io,podgroups.scheduling.k8s.io';

/** From the first Pod to the last binding, by the real loop and a real kube-scheduler. */
export async function gangLife(stage: Stage): Promise<void> {
  await incomplete(stage);
  await complete(stage);
  await later(stage);
}

async function incomplete(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('A gang of one leader and two workers; one worker is late');
  await stage.kubectl(['apply', '-f', '-'], 'apply -f podgang.yaml', yamlOf(podGang()));
  const leader = pod('leader-0', 'leader');
  await stage.create(leader);
  const stored = await stage.get('Pod', 'leader-0');
  tell.say('what is stored, with + for what Muster added:');
  tell.output(preparedParts(leader, stored));
  tell.check('it carries the gate, so no scheduler touches it yet', isGated(stored));
  await stage.create(pod('worker-0', 'worker'));

  tell.say('Why does it wait?');
  const told = await stage.within(async () => (await condition(stage, 'Initialized')).includes('worker 1/2'));
  const status = await stage.muster(['status', GANG, '-n', NAMESPACE]);
  tell.check(
    'it says what is missing, and no Pod starts',
    told && status.stdout.includes('worker 1/2') && (await stage.pods(MEMBERS)).every(isGated),
  );
  const natives = ['get', NATIVE, '-n', NAMESPACE];
  await stage.within(async () => (await stage.quietly(natives)).stdout.includes(`/${GANG}`));
  const native = await stage.kubectl(natives);
  tell.check(
    "the scheduler's own objects for the gang are there already",
    native.stdout.includes(`/${GANG}`),
  );
}

async function complete(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('The last Pod comes: the gang is complete, its gates come off, and it starts as one');
  await stage.create(pod('worker-1', 'worker'));
  const bound = await areBound(stage, 3);
  await stage.within(async () => (await condition(stage, 'Scheduled', 'status')) === 'True');
  await stage.muster(['status', GANG, '-n', NAMESPACE]);
  tell.check('complete: Initialized, gates off, all three bound by kube-scheduler', bound);

  const columns = 'REASON:.reason,ABOUT:.involvedObject.name,MESSAGE:.message';
  const about = ['--field-selector', `involvedObject.name=${GANG}`];
  const events = (show: (args: readonly string[]) => Promise<{ stdout: string }>) =>
    show(['get', 'events', '-n', NAMESPACE, ...about, '-o', `custom-columns=${columns}`]);
  await stage.within(async () =>
    (await events((args) => stage.quietly(args))).stdout.includes('GatesRemoved'),
  );
  const shown = await events((args) => stage.kubectl(args));
  tell.check('Events tell the same to whoever looks at the gang', shown.stdout.includes('GatesRemoved'));
  const metrics = await (await fetch(`http://127.0.0.1:${stage.serving.metricsPort}/metrics`)).text();
  const counted = /^muster_loop_(gates_removed|initialized)_total.*$/gm;
  tell.command('curl -s localhost:8080/metrics | grep muster_loop_');
  tell.output((metrics.match(counted) ?? []).join('\n'));
  tell.check('and so do the metrics', metrics.includes('\nmuster_loop_gates_removed_total 3\n'));
}

async function later(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('It grows, and a Pod is replaced');
  await stage.create(pod('worker-2', 'worker'));
  tell.check('a worker more is let in at once', await areBound(stage, 4));
  await stage.kubectl(['delete', 'pod', 'worker-0', '--grace-period=0', '--force'], 'delete pod worker-0');
  await stage.create(pod('worker-3', 'worker'));
  const replaced = await areBound(stage, 4);
  const path = '{.spec.podgroups[*].podReferences[*].name}';
  const names = await stage.kubectl(
    ['get', 'podgang', GANG, '-o', `jsonpath=${path}`],
    `get podgang ${GANG} -o jsonpath='${path}'`,
  );
  tell.check(
    'its replacement, too, and the references follow',
    replaced && names.stdout.includes('worker-3') && !names.stdout.includes('worker-0'),
  );
}

const areBound = (stage: Stage, count: number): Promise<boolean> =>
  stage.within(async () => {
    const all = await stage.pods(MEMBERS);
    return all.length === count && all.every(({ spec }) => spec.nodeName !== undefined);
  });

async function condition(
  stage: Stage,
  type: string,
  field: 'message' | 'status' = 'message',
): Promise<string> {
  const { status } = (await stage.get('PodGang', GANG)) as {
    status?: { conditions?: readonly { type: string; message: string; status: string }[] };
  };
  return status?.conditions?.find((one) => one.type === type)?.[field] ?? '';
}
