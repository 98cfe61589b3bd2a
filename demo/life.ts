import { LABEL_POD_CLIQUE, LABEL_POD_GANG, LABEL_SCHEDULER_NAME, MUSTER_USER } from '../src/api/names.ts';
import { statusCommand } from '../src/cli/status/status.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Narrator } from './narrator.ts';
import { isGated, NAMESPACE, pod, podGang, yamlOf, type Manifest } from './objects.ts';
import { manifestsIn } from './registration.ts';

const LIFE = 'choir';
const WITHIN_MS = 30_000;

/**
 * What the loop needs before it starts, as it ships: the PodGang definition, Muster's account and its rights.
 * @returns the kubeconfig of that account
 */
export async function admitLoop(plane: ControlPlane): Promise<string> {
  const rights = (await manifestsIn('base')).filter(({ kind }) =>
    /^(Namespace|ServiceAccount|.*Role|.*RoleBinding)$/.test(kind),
  );
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

interface StoredPod {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly nodeName?: string };
}

/** From the first Pod to the last binding, by the real loop and a real kube-scheduler. */
export async function lifeOfAGang(plane: ControlPlane, tell: Narrator): Promise<void> {
  const { kubectl } = plane;
  tell.scene('The life of a gang: it waits, it is complete, it starts; it grows, and a Pod is replaced');
  const create = async (manifest: Manifest): Promise<void> => {
    const kind = manifest['kind'] === 'PodGang' ? 'podgang' : (manifest.metadata['name'] as string);
    tell.command(`kubectl create -f ${kind}.yaml`);
    const result = await kubectl(['create', '-f', '-'], { stdin: yamlOf(manifest) });
    tell.output(result.stdout + result.stderr);
  };
  const pods = async (): Promise<readonly StoredPod[]> => {
    const found = await kubectl([
      'get',
      'pods',
      '-n',
      NAMESPACE,
      '-l',
      `${LABEL_POD_GANG}=${LIFE}`,
      '-o',
      'json',
    ]);
    return (JSON.parse(found.stdout || '{"items":[]}') as { items: StoredPod[] }).items;
  };
  const areBound = (count: number): Promise<boolean> =>
    within(async () => {
      const all = await pods();
      return all.length === count && all.every(({ spec }) => spec.nodeName !== undefined);
    });
  const initialized = async (): Promise<string> => {
    const found = await kubectl([
      'get',
      'podgang',
      LIFE,
      '-n',
      NAMESPACE,
      '-o',
      'jsonpath={.status.conditions[?(@.type=="Initialized")].message}',
    ]);
    return found.stdout;
  };
  const status = async (): Promise<void> => {
    tell.command(`muster status ${LIFE} -n ${NAMESPACE}`);
    tell.output(await statusText(plane.kubeconfig));
  };

  await create(gang());
  await create(member('leader'));
  await create(member('worker-0', 'worker'));
  const counted = await within(async () => (await initialized()).includes('worker 1/2'));
  await status();
  tell.check(
    'one worker is missing: it says so, and no Pod starts',
    counted && (await pods()).every(isGated),
  );

  await create(member('worker-1', 'worker'));
  const started = await areBound(3);
  await status();
  tell.check('complete: Initialized, gates off, all three bound by kube-scheduler', started);

  await create(member('worker-2', 'worker'));
  tell.check('a worker more is let in at once', await areBound(4));
  tell.command('kubectl delete pod choir-worker-0');
  await kubectl(['delete', 'pod', `${LIFE}-worker-0`, '-n', NAMESPACE, '--grace-period=0', '--force']);
  await create(member('worker-3', 'worker'));
  const replaced = await areBound(4);
  tell.command("kubectl get podgang choir -o jsonpath='{.spec.podgroups[*].podReferences[*].name}'");
  const names = await kubectl([
    'get',
    'podgang',
    LIFE,
    '-n',
    NAMESPACE,
    '-o',
    'jsonpath={.spec.podgroups[*].podReferences[*].name}',
  ]);
  tell.output(names.stdout);
  tell.check(
    'its replacement, too, and the references follow',
    replaced && !names.stdout.includes('worker-0'),
  );
}

const gang = (): Manifest => {
  const manifest = podGang({}, { [LABEL_SCHEDULER_NAME]: 'default-scheduler' });
  return { ...manifest, metadata: { ...manifest.metadata, name: LIFE } };
};

const member = (name: string, group = name): Manifest =>
  pod(`${LIFE}-${name}`, group, {
    labels: {
      [LABEL_POD_GANG]: LIFE,
      [LABEL_POD_CLIQUE]: group,
      [LABEL_SCHEDULER_NAME]: 'default-scheduler',
    },
  });

/** What `muster status` prints, run in this process. */
async function statusText(kubeconfig: string): Promise<string> {
  let text = '';
  const take = (more: string): void => {
    text += more;
  };
  const io = {
    stdout: take,
    stderr: take,
    now: () => new Date(),
    env: {},
    isTerminal: false,
    readStdin: async () => Promise.resolve(''),
  };
  await statusCommand(io).parseAsync([LIFE, '-n', NAMESPACE, '--kubeconfig', kubeconfig], { from: 'user' });
  return text;
}

/** Asks until it is so; false when it is not within half a minute. */
async function within(probe: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + WITHIN_MS;
  while (Date.now() < deadline) if (await probe()) return true;
  return false;
}
