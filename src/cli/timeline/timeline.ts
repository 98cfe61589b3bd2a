import { Command } from 'commander';
import { POD_GANG_KIND } from '../../api/names.ts';
import { readPodRecord } from '../../gang/read-records.ts';
import { own, ownString, type JsonObject } from '../../json/json.ts';
import { isOwnedBy, readTimelineInput } from '../../status/read-timeline.ts';
import { readView, unknownGang } from '../../status/read-status.ts';
import { gangKeys } from '../../status/gang-status.ts';
import { timelineOf, type Timeline, type TimelineInput } from '../../timeline/timeline.ts';
import { timelineSvg } from '../../timeline/timeline-svg.ts';
import { connect, outputOption, type ClusterFlags } from '../input/shared-options.ts';
import { ExitStatus, type CliIo } from '../output/io.ts';
import { paletteFor } from '../output/palette.ts';
import { widthFor } from '../output/text-layout.ts';
import { wholeObjectsOf } from '../plan/plan-objects.ts';
import { configuredJudge } from '../status/configured-judge.ts';
import { timelineJson, timelineText } from './render.ts';

interface TimelineFlags extends ClusterFlags {
  readonly namespace?: string;
  readonly output: 'text' | 'json' | 'svg';
  readonly filename?: readonly string[];
  readonly config?: string;
}

const EXAMPLES = `
Examples:
  $ muster timeline train -n team
  $ muster timeline train -n team -o svg > train.svg
  $ kubectl get podgangs,pods,events -n team -o yaml --show-managed-fields > team.yaml
  $ muster timeline train -n team -f team.yaml
  $ muster timeline train -o json | jq '.steps[] | select(.step == "bound")'

It reads the PodGang, its Pods, the objects of its scheduler and the Events; it needs no running
Muster, and nothing is stored for it. So steps are lost where Pods are gone, and refusals and
evictions once an API server has forgotten its Events, after an hour by default: what is not known
any more is said. Exit code 1 where the gang does not exist.`;

/** `muster timeline`: prints when each step of a gang happened, and what it waited for in between. */
export const timelineCommand = (io: CliIo): Command =>
  new Command('timeline')
    .description('show when each step of a gang happened, and what it waited for in between')
    .argument('<gang>', 'name of a PodGang')
    .option('-n, --namespace <name>', 'where it is (default: that of the kubeconfig’s context)')
    .option(
      '-f, --filename <file...>',
      'what kubectl get printed of it, in place of a cluster; - is standard input',
    )
    .addOption(outputOption(['text', 'json', 'svg']))
    .option('--kubeconfig <file>', 'how to reach the cluster (default: as kubectl)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--config <file>', 'OperatorConfiguration: which scheduler serves gangs that name none')
    .addHelpText('after', EXAMPLES)
    .action((gang: string, flags: TimelineFlags) => timeline(gang, flags, io));

async function timeline(gang: string, flags: TimelineFlags, io: CliIo): Promise<void> {
  const input =
    flags.filename === undefined
      ? await fromCluster(gang, flags, io)
      : await fromFiles(gang, { ...flags, filename: flags.filename }, io);
  const found = timelineOf(input);
  io.stdout(rendered(found, flags.output, io));
  if (input.gang === undefined) throw new ExitStatus(1);
}

function rendered(found: Timeline, output: TimelineFlags['output'], io: CliIo): string {
  if (output === 'json') return `${JSON.stringify(timelineJson(found), null, 2)}\n`;
  if (output === 'svg') return timelineSvg(found);
  return timelineText(found, { palette: paletteFor('auto', io), width: widthFor(io) });
}

async function fromCluster(name: string, flags: TimelineFlags, io: CliIo): Promise<TimelineInput> {
  const { registry, selectors, gangKinds } = await configuredJudge(flags.config, io);
  const { client, namespace: usual } = await connect(flags, io);
  const namespace = flags.namespace ?? usual;
  try {
    const input = await readTimelineInput(client, { namespace, name }, { registry, now: io.now().getTime() });
    if (input.gang === undefined && input.pods.length === 0) {
      const view = await readView(client, namespace, selectors, gangKinds);
      throw unknownGang(
        { gang: name, namespace },
        gangKeys(view).map((key) => key.name),
        '',
      );
    }
    return input;
  } finally {
    await client.close();
  }
}

/** The objects of a gang among those that kubectl printed. */
async function fromFiles(
  name: string,
  { filename, namespace }: { readonly filename: readonly string[]; readonly namespace?: string },
  io: CliIo,
): Promise<TimelineInput> {
  const objects = await wholeObjectsOf(filename, io);
  const placeOf = (object: JsonObject): string =>
    ownString(own(object, 'metadata'), 'namespace') ?? 'default';
  const ofKind = (kind: string): JsonObject[] => objects.filter((object) => own(object, 'kind') === kind);
  const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') ?? '';
  const members = ofKind('Pod').filter((pod) => readPodRecord(pod).gang === name);
  const gangs = ofKind(POD_GANG_KIND);
  const found = [...gangs.filter((gang) => nameOf(gang) === name), ...members];
  const place = namespace ?? (found[0] === undefined ? 'default' : placeOf(found[0]));
  const here = (object: JsonObject): boolean => placeOf(object) === place;
  const gang = gangs.find((one) => nameOf(one) === name && here(one));
  const pods = members.filter(here);
  if (gang === undefined && pods.length === 0)
    throw unknownGang({ gang: name, namespace: place }, gangs.filter(here).map(nameOf).sort(), '');
  const uid = ownString(own(gang, 'metadata'), 'uid');
  const isOwned = (object: JsonObject): boolean => uid !== undefined && isOwnedBy(object, uid);
  return {
    namespace: place,
    name,
    gang,
    pods,
    objects: objects.filter((object) => own(object, 'kind') !== 'Pod' && here(object) && isOwned(object)),
    events: ofKind('Event').filter(here),
    now: io.now().getTime(),
  };
}
