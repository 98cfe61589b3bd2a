/** What the real Flux was seen to do: the double of the tests and docs/hpc.md are held to it. */

export const SEEN_WITH =
  'flux-core 0.88.0 (4a5e79f) on Debian 12, three to five brokers in network namespaces of their own';

/** A call of the double: its exit code, and what it says. */
interface Call {
  readonly argv: readonly string[];
  readonly code: number;
  readonly says: string;
}

export interface Observed {
  /** What was done. */
  readonly when: string;
  /** What it did: exit code, output, time. */
  readonly did: string;
  /**
   * How the double is held to it: by a call, by a scene of test/component/hpc/observed.test.ts, or not, as it is beyond
   * what the double has; no test relies on that.
   */
  readonly double: Call | { readonly scene: string } | { readonly beyond: string };
}

const RUN = ['run', '-N', '1', '--tasks-per-node=1', '--exclusive'];

export const OBSERVED: readonly Observed[] = [
  {
    when: 'the program exits with 3',
    did: 'the broker of the lead ends with 3, those of followers with 0, a second later',
    double: { scene: 'the program ends' },
  },
  {
    when: 'a word of the program is `{{id}}`',
    did: 'it is filled in, unless the braces stand apart',
    double: { argv: [...RUN, 'echo', '{{id}}', "{''{id}}"], code: 0, says: "ƒ1 {''{id}}" },
  },
  {
    when: 'the broker of the lead is told TERM',
    did: 'the program gets HUP at once: exit code 129',
    double: { scene: 'TERM to the lead' },
  },
  {
    when: 'the broker of a follower is told TERM, and no part of the program runs there',
    did: 'it ends with 0, in a second',
    double: { scene: 'TERM to a follower' },
  },
  {
    when: '`flux job killall -f -s TERM`, and a program runs',
    did: 'its processes on all Pods get TERM; says `Terminated 1 jobs (0 errors)`, exit code 0; what the program then exits with is the lead’s exit code',
    double: { scene: 'TERM to the program' },
  },
  {
    when: '`flux job killall -f -s TERM`, and none runs',
    did: 'says `Command matched 0 jobs`, exit code 0',
    double: { argv: ['job', 'killall', '-f', '-s', 'TERM'], code: 0, says: 'Command matched 0 jobs' },
  },
  {
    when: 'the lead never comes',
    did: 'the broker of a follower looks for it without end (300 s were waited) and without a word; told TERM it ends with 1, in a second',
    double: { scene: 'no lead' },
  },
  {
    when: 'the lead is killed',
    did: 'as when it never comes, but told TERM the broker ends after 60 s, with 0 and `goodbye timeout`',
    double: { scene: 'a lead that is gone' },
  },
  {
    when: 'the lead is killed and started again',
    did: 'the broker of a follower ends with 1 once the next lead tells it to; started again, it joins',
    double: { scene: 'another lead' },
  },
  {
    when: 'a follower is killed that has no part of the program, and started again',
    did: '`flux overlay status` says `lost`; the program goes on, and the follower joins under its rank',
    double: { scene: 'a follower is killed' },
  },
  {
    when: 'a follower is killed that has a part of the program',
    did: '`node failure` ends the program on all Pods: the lead ends with 143',
    double: { beyond: 'its program runs on the lead alone' },
  },
  {
    when: 'hosts of several prefixes, `vllm-0,vllm-0-[1-3]` or `tide-driver-0-0,tide-node-0-[0-1],tide-node-1-[0-1]`',
    did: 'each broker has the rank of its place in the list; the program runs on all, MPI among them',
    double: { beyond: 'its brokers have no ranks' },
  },
  {
    when: 'a broker that leads is started without a program or a terminal',
    did: 'it ends at once, with 1 and `stdin is not a tty`; with `broker.rc2_none=1` it stays, `flux run` works in it, and TERM ends it with 0',
    double: { scene: 'no program' },
  },
  {
    when: '`FLUX_RC_EXTRA=…/etc/flux`',
    did: 'what may be executed in its `rc1.d` is run on every broker; with `…/etc/flux/rc1.d` nothing is',
    double: { scene: 'rc1.d' },
  },
  {
    when: 'Fluxion 0.54.0-8 in the view',
    did: 'its script in `rc1.d` leaves it to flux-modprobe: with `FLUX_MODPROBE_PATH_APPEND=…/etc/flux/modprobe` its three modules are loaded, else sched-simple',
    double: { beyond: 'it has no modules' },
  },
  {
    when: '`--tasks-per-node=2 --exclusive -o gpu-affinity=per-task`, Pods with two GPUs and one with none',
    did: '`CUDA_VISIBLE_DEVICES` is 0 in one task and 1 in the other; empty where there is none',
    double: { beyond: 'it starts one process for all tasks' },
  },
  {
    when: 'more cores in R than the machine has',
    did: 'with `noverify` the program runs, not bound; without it, it waits for ever',
    double: { beyond: 'it has no machine' },
  },
  {
    when: '`-o pmi=pmix` without its plugin',
    did: 'exit code 0, without a word; Open MPI 4.1.4 fails in MPI_Init',
    double: { argv: [...RUN, '-o', 'pmi=pmix', 'bash', '-c', 'echo "<$PMIX_RANK>"'], code: 0, says: '<>' },
  },
  {
    when: 'flux-pmix 0.7.0-2 in the view alone',
    did: 'it is not loaded, as Flux looks where it was built for; with a `*.lua` in `FLUX_SHELL_RC_PATH` that says `plugin.load` it is, and Open MPI 4.1.4 (PMIx 4.2.2) runs',
    double: { scene: 'the plugin of PMIx' },
  },
  {
    when: '`--tasks-per-node=2 -o pmi=pmix`',
    did: 'flux-pmix counts one task a Pod, and MPI_Init fails; with `-n` it counts all of them, each of which takes a core',
    double: { beyond: 'it starts one process for all tasks' },
  },
];
