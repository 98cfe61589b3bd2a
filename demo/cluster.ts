import { setTimeout as delay } from 'node:timers/promises';
import { MUSTER_USER } from '../src/api/names.ts';
import type { ControlPlane } from './control-plane.ts';
import { lifeOfAGang } from './life.ts';
import {
  forScheduler,
  GANG,
  isGated,
  mistakes,
  NAMESPACE,
  pod,
  podGang,
  preparedParts,
  yamlOf,
  type Manifest,
} from './objects.ts';
import type { Narrator } from './narrator.ts';
import { manifestsIn, webhookConfigurations } from './registration.ts';
import type { Serving } from './serving.ts';

type Kubectl = ControlPlane['kubectl'];

/** The demo on a real API server: every line that begins with `$` was run, and what follows is what it printed. */
export async function clusterDemo(plane: ControlPlane, serving: Serving, tell: Narrator): Promise<void> {
  const kubectl = plane.kubectl;
  await install(plane, serving, tell);
  await prepared(kubectl, tell);
  await refused(kubectl, tell);
  await dryRun(kubectl, serving, tell);
  await protectedThings(kubectl, tell);
  await lifeOfAGang(plane, tell);
  await musterDown(kubectl, serving, tell);
}

async function install(plane: ControlPlane, serving: Serving, tell: Narrator): Promise<void> {
  tell.scene(`Muster on Kubernetes ${plane.version}`);
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: NAMESPACE } },
    ...(await manifestsIn('crds')),
    ...(await webhookConfigurations(serving.port, serving.ca)),
  ];
  tell.command('kubectl apply -f manifests/…   # PodGang CRD and webhook configurations, as shipped');
  const applied = await plane.kubectl(['apply', '-f', '-'], { stdin: objects.map(yamlOf).join('---\n') });
  tell.output(applied.stdout + applied.stderr);
  tell.check('installed', applied.code === 0);
  await plane.kubectl([
    'wait',
    '--for=condition=Established',
    '--timeout=30s',
    'crd/podgangs.scheduler.grove.io',
  ]);
  await untilCalled(plane.kubectl, serving);
}

/** Webhook configurations take effect a moment after they are stored: until the first dry run reaches Muster. */
async function untilCalled(kubectl: Kubectl, serving: Serving): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (Date.now() < deadline) {
    for (const manifest of [pod('probe', 'leader'), podGang()]) {
      await kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: yamlOf(manifest) });
    }
    const kinds = new Set(serving.decisions().map((line) => line['kind']));
    if (kinds.has('Pod') && kinds.has('PodGang')) return;
  }
  throw new Error('the API server has not called Muster within 30 s');
}

async function prepared(kubectl: Kubectl, tell: Narrator): Promise<void> {
  tell.scene('A gang: one leader, two workers. Its Pods come in, prepared and gated Pods are stored');
  await run(kubectl, tell, 'kubectl create -f podgang.yaml', ['create', '-f', '-'], podGang());
  for (const [title, manifest] of [
    ['leader.yaml', pod('leader-0', 'leader')],
    [
      'worker.yaml   # labelled grove.io/scheduler-name: default-scheduler',
      forScheduler('worker-0', 'worker', 'default-scheduler'),
    ],
  ] as const) {
    await run(kubectl, tell, `kubectl create -f ${title}`, ['create', '-f', '-'], manifest);
    const stored = await get(kubectl, 'pod', manifest.metadata['name'] as string);
    tell.output(preparedParts(manifest, stored));
    tell.check('stored with the gate, so that no scheduler touches it yet', isGated(stored));
  }
}

async function refused(kubectl: Kubectl, tell: Narrator): Promise<void> {
  tell.scene('Mistakes are refused with what is wrong, the rule, and the way out');
  for (const { title, manifest, says } of mistakes) {
    tell.say(`${title}:`);
    const result = await run(
      kubectl,
      tell,
      'kubectl create -f mistake.yaml',
      ['create', '-f', '-'],
      manifest,
    );
    tell.check('refused', result.code !== 0 && result.stderr.includes(says));
  }
}

async function dryRun(kubectl: Kubectl, serving: Serving, tell: Narrator): Promise<void> {
  tell.scene('A dry run shows what would be stored, and stores nothing');
  const manifest = pod('worker-1', 'worker');
  const args = ['create', '--dry-run=server', '-o', 'json', '-f', '-'];
  tell.command('kubectl create --dry-run=server -o json -f worker-1.yaml   # what Muster touches:');
  const result = await kubectl(args, { stdin: yamlOf(manifest) });
  tell.output(preparedParts(manifest, JSON.parse(result.stdout || '{}')));
  const found = await kubectl(['get', 'pod', 'worker-1', '-n', NAMESPACE]);
  tell.output(found.stderr);
  tell.check('nothing was stored', found.code !== 0);

  const ordinary = pod('web', 'x', { labels: { app: 'web' } });
  await run(
    kubectl,
    tell,
    'kubectl create -f web.yaml   # a Pod of no gang',
    ['create', '-f', '-'],
    ordinary,
  );
  // The log comes in blocks, in order: with the line of a later review all earlier ones are there.
  const seen = (name: string): boolean => serving.decisions().some((line) => line['name'] === name);
  await kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: yamlOf(pod('later', 'leader')) });
  for (const end = Date.now() + 10_000; !seen('later') && Date.now() < end;) await delay(50);
  tell.check('Muster was not even called for it', seen('later') && !seen('web'));
}

async function protectedThings(kubectl: Kubectl, tell: Narrator): Promise<void> {
  tell.scene('What the loop has written stays written, and the gate stays on');
  const reference = JSON.stringify([
    {
      op: 'replace',
      path: '/spec/podgroups/0/podReferences',
      value: [{ namespace: NAMESPACE, name: 'leader-0' }],
    },
  ]);
  await kubectl(['patch', 'podgang', GANG, '-n', NAMESPACE, '--type=json', '-p', reference], {
    as: MUSTER_USER,
    asGroups: ['system:masters'],
  });
  for (let round = 0; round < 2; round += 1) {
    await run(kubectl, tell, 'kubectl apply -f podgang.yaml', ['apply', '-f', '-'], podGang());
  }
  const gang = (await get(kubectl, 'podgang', GANG)) as {
    spec: { podgroups: { podReferences: unknown[] }[] };
  };
  tell.check(
    'applied twice, and the reference to leader-0 is still there',
    gang.spec.podgroups[0]?.podReferences.length === 1,
  );
  for (const [command, args] of [
    [
      'kubectl label pod leader-0 grove.io/podgang=other --overwrite',
      ['label', 'pod', 'leader-0', 'grove.io/podgang=other', '--overwrite', '-n', NAMESPACE],
    ],
    [
      'kubectl patch pod leader-0 …   # take the gate away',
      [
        'patch',
        'pod',
        'leader-0',
        '-n',
        NAMESPACE,
        '--type=json',
        '-p',
        '[{"op":"remove","path":"/spec/schedulingGates"}]',
      ],
    ],
    [
      'kubectl patch podgang train --subresource=status …   # Initialized=True',
      [
        'patch',
        'podgang',
        GANG,
        '-n',
        NAMESPACE,
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify(INITIALIZED),
      ],
    ],
  ] as const) {
    const result = await run(kubectl, tell, command, args);
    tell.check('refused, even for an administrator', result.code !== 0);
  }
}

const INITIALIZED = {
  status: {
    phase: 'Pending',
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        reason: 'Forced',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  },
};

async function musterDown(kubectl: Kubectl, serving: Serving, tell: Narrator): Promise<void> {
  tell.scene('Muster is killed: gang Pods wait, everything else runs');
  tell.command('kill -9 <muster>');
  await serving.kill();
  const ordinary = await run(
    kubectl,
    tell,
    'kubectl create -f web-2.yaml',
    ['create', '-f', '-'],
    pod('web-2', 'x', { labels: { app: 'web' } }),
  );
  tell.check('an ordinary Pod is created as ever', ordinary.code === 0);
  const gang = await run(
    kubectl,
    tell,
    'kubectl create -f worker-2.yaml',
    ['create', '-f', '-'],
    pod('worker-2', 'worker'),
  );
  tell.check('a gang Pod is refused rather than started half (its controller tries again)', gang.code !== 0);
  const gone = await run(kubectl, tell, 'kubectl delete pod leader-0', [
    'delete',
    'pod',
    'leader-0',
    '-n',
    NAMESPACE,
    '--wait=false',
  ]);
  tell.check('and deletion is never in the way', gone.code === 0);
}

async function run(
  kubectl: Kubectl,
  tell: Narrator,
  command: string,
  args: readonly string[],
  manifest?: Manifest,
): Promise<{ code: number; stdout: string; stderr: string }> {
  tell.command(command);
  const result = await kubectl(args, manifest === undefined ? {} : { stdin: yamlOf(manifest) });
  tell.output(`${result.stderr}${result.stdout}`);
  return result;
}

const get = async (kubectl: Kubectl, kind: string, name: string): Promise<unknown> =>
  JSON.parse((await kubectl(['get', kind, name, '-n', NAMESPACE, '-o', 'json'])).stdout || '{}');
