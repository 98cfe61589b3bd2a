import { LABEL_GANG, LABEL_POD_GANG } from '../src/api/names.ts';
import { NAMESPACE, yamlOf, type Manifest } from './objects.ts';
import type { Stage } from './stage.ts';

const PODS = 3;

/** Gangs that nobody writes down: one label, and Kubernetes' own controllers make the Pods. */
export async function plainWorkloads(stage: Stage): Promise<void> {
  const { tell } = stage;
  tell.scene('One label on the template of a Job, and no PodGang to write');
  const job = jobOf('fit');
  await stage.kubectl(['apply', '-f', '-'], 'apply -f job.yaml', yamlOf(job));
  const bound = await areBound(stage, 'job-fit');
  await stage.kubectl(['get', 'podgang', 'job-fit']);
  await stage.muster(['status', 'job-fit', '-n', NAMESPACE]);
  tell.check('Muster has made the PodGang, and the three Pods start together', bound);
  await stage.kubectl(['delete', 'job', 'fit']);
  tell.check('the gang goes with its Job', await stage.within(async () => !(await exists(stage, 'job-fit'))));

  tell.say('Of a CronJob each run is a gang of its own:');
  const cronJob: Manifest = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly', namespace: NAMESPACE },
    spec: { schedule: '0 3 * * *', jobTemplate: { spec: job['spec'] } },
  };
  await stage.kubectl(['apply', '-f', '-'], 'apply -f cronjob.yaml', yamlOf(cronJob));
  await stage.kubectl(['create', 'job', 'tonight', '--from=cronjob/nightly']);
  tell.check('a run has its gang, too', await areBound(stage, 'job-tonight'));
}

const jobOf = (name: string): Manifest => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, namespace: NAMESPACE },
  spec: {
    parallelism: PODS,
    completions: PODS,
    template: {
      metadata: { labels: { [LABEL_GANG]: 'true' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'registry.example/train:1' }] },
    },
  },
});

const exists = async (stage: Stage, gang: string): Promise<boolean> =>
  ((await stage.get('PodGang', gang)) as { kind?: string }).kind === 'PodGang';

const areBound = (stage: Stage, gang: string): Promise<boolean> =>
  stage.within(async () => {
    const all = await stage.pods(`${LABEL_POD_GANG}=${gang}`);
    return all.length === PODS && all.every(({ spec }) => spec.nodeName !== undefined);
  });
