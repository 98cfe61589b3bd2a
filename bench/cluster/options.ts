import { parseArgs } from 'node:util';

export interface ClusterOptions {
  readonly pods: number;
  readonly nodes: number;
  /** Gangs that have begun and do not run whole: the next one waits for one of them. */
  readonly ahead: number;
  /** Of the whole run; undefined: as long as it takes. */
  readonly minutes?: number;
  readonly json: string;
  /** Folder of all logs, kept; default: a temporary one. */
  readonly logs?: string;
}

export const GANG_SIZE = 8;
/** Parts of a run that are measured one by one. */
export const STEPS = 10;

/** Pods that a node has room for, by their requests and by their number. */
const MOST_PODS_A_NODE = 110;

export const CLUSTER_USAGE = `npm run bench -- cluster [options]

  --pods N    Pods that exist in the end, in gangs of ${GANG_SIZE} (100000)
  --nodes N   nodes, whose kubelets are kwok (1000)
  --ahead N   gangs that have begun and do not run whole, at most (16)
  --minutes N of the whole run, of which gangs may take seven tenths; what was measured until then counts
  --quick     2,000 Pods on 50 nodes unless said otherwise: two minutes
  --logs DIR  where all logs are kept
  --json FILE where the figures go (bench/cluster/results.json)

One control plane with Muster and one without, one after the other: the second goes as far as the first came. It ends in
good order on SIGINT, on SIGTERM and where no gang is bound any more, and the file is whole after each tenth. It needs Go
for what is not built yet: the control plane and kwok. Exit codes: 0 measured, 1 a Pod was bound before its gang was
released, 2 wrong usage or something that it needs is missing.`;

/** @returns what is wrong with the command line, where something is */
export function clusterOptionsFrom(argv: readonly string[]): ClusterOptions | string {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        pods: { type: 'string' },
        nodes: { type: 'string' },
        ahead: { type: 'string', default: '16' },
        minutes: { type: 'string' },
        quick: { type: 'boolean', default: false },
        logs: { type: 'string' },
        json: { type: 'string', default: 'bench/cluster/results.json' },
      },
    });
    const [usualPods, usualNodes] = values.quick ? ['2000', '50'] : ['100000', '1000'];
    const part = GANG_SIZE * STEPS;
    const pods = Math.ceil(whole('--pods', values.pods ?? usualPods) / part) * part;
    const nodes = whole('--nodes', values.nodes ?? usualNodes);
    if (pods > nodes * MOST_PODS_A_NODE)
      throw new Error(`--pods ${pods}: ${nodes} nodes have room for ${nodes * MOST_PODS_A_NODE}`);
    return {
      ...{ pods, nodes, json: values.json },
      ahead: whole('--ahead', values.ahead),
      ...(values.minutes !== undefined && { minutes: whole('--minutes', values.minutes) }),
      ...(values.logs !== undefined && { logs: values.logs }),
    };
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function whole(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value <= 0)
    throw new Error(`${flag} ${text}: a whole number above 0 is needed`);
  return value;
}
