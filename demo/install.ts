import { MUSTER_USER } from '../src/api/names.ts';
import type { ControlPlane } from '../test/cluster/control-plane/control-plane.ts';
import { isGated, NAMESPACE, pod, podGang, yamlOf } from './objects.ts';
import { accountManifests, manifestsIn, webhookConfigurations } from '../test/support/manifests.ts';
import type { Stage } from './stage.ts';

/**
 * What the loop needs before it starts, as it ships: the definitions, Muster's account and its rights.
 * @returns the kubeconfig of that account
 */
export async function admitLoop(plane: ControlPlane): Promise<string> {
  const rights = await accountManifests();
  const stdin = [...(await manifestsIn('crds')), ...rights].map(yamlOf).join('---\n');
  for (const args of [
    ['apply', '-f', '-'],
    ['wait', '--for=condition=Established', '--timeout=30s', 'crd/podgangs.scheduler.grove.io'],
  ]) {
    const result = await plane.kubectl(args, { stdin });
    if (result.code !== 0) throw new Error(result.stderr);
  }
  await plane.addNode('node-1');
  return plane.kubeconfigFor(MUSTER_USER);
}

/** Definitions, policies and webhooks as they ship; the program runs beside the API server instead of inside a Pod. */
export async function install(stage: Stage): Promise<void> {
  const { plane, serving, tell } = stage;
  tell.scene(`Muster on Kubernetes ${plane.version}`);
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    ...(await manifestsIn('crds')),
    ...(await manifestsIn('policies')),
    ...(await webhookConfigurations(serving.port, serving.ca)),
  ];
  tell.command('kubectl apply -k manifests/…   # definitions, policies, webhooks: as shipped');
  const applied = await plane.kubectl(['apply', '-f', '-'], { stdin: objects.map(yamlOf).join('---\n') });
  const kinds = new Map<string, number>();
  for (const line of applied.stdout.split('\n').filter((text) => text !== '')) {
    const kind = line.replace(/[./].*/, '');
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  tell.output(applied.stderr + [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', '));
  // Kubernetes makes one for each namespace, and takes no Pod before.
  const account = async () => (await stage.quietly(['get', 'serviceaccount', 'default'])).code === 0;
  const ready = applied.code === 0 && (await stage.within(account));
  tell.check('installed', ready && (await stage.within(() => called(stage))));

  const says = (text: string): boolean =>
    /^default-scheduler +True/m.test(text) && /^kai-scheduler +False/m.test(text);
  await stage.within(async () => says((await stage.quietly(BACKENDS)).stdout));
  const shown = await stage.kubectl(BACKENDS, 'get schedulerbackends');
  tell.check(
    'the stock scheduler serves gangs by objects of its own; KAI is not installed here, and it says so',
    says(shown.stdout),
  );
}

const READY = '.status.conditions[?(@.type=="SchedulerBackendReady")]';
const BACKENDS = [
  ...['get', 'schedulerbackends', '-o'],
  `custom-columns=NAME:.metadata.name,READY:${READY}.status,MESSAGE:${READY}.message`,
];

/** Webhooks take effect a moment after they are stored. */
async function called(stage: Stage): Promise<boolean> {
  for (const manifest of [pod('probe', 'leader'), podGang()]) await stage.dryRun(manifest);
  const kinds = new Set(stage.serving.decisions().map((line) => line['kind']));
  return kinds.has('Pod') && kinds.has('PodGang') && isGated(await stage.dryRun(pod('probe', 'leader')));
}
