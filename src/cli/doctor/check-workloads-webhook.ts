import { own, ownList, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_GANG, MUSTER_PREFIX } from '../../api/names.ts';
import type { GangView } from '../../controller/watch/gang-view.ts';
import { workloadOf } from '../../gang/gang-workload.ts';
import type { GangKind } from '../../workloads/kind.ts';
import {
  checkOnce,
  checkPath,
  covers,
  registeredWebhooks,
  type WebhookConfigurations,
} from './check-webhooks.ts';
import { askedAbout, WORKLOADS_WEBHOOK } from './expected-webhooks.ts';
import { saying, RIGHTS_FIX, valueOf, type Diagnosis, type Read } from './diagnosis.ts';

const APPLY = 'kubectl apply -k manifests/base, or your overlay';
const say = saying('webhooks', 'workloads');
/** Longest acceptable timeout in seconds: each new workload waits for so long while Muster is down. */
const LONGEST = 5;

/**
 * Checks the webhook that tells at a workload’s creation why it cannot be a gang. Nothing else depends on it.
 * @param view gangs of the cluster: without a workload's gang among them a missing webhook is no warning
 * @param kinds built-in kinds of workloads and those of the configuration
 */
export function checkWorkloadsWebhook(
  configurations: WebhookConfigurations,
  view: Read<Pick<GangView, 'gangs'>>,
  kinds: readonly GangKind[],
): readonly Diagnosis[] {
  const { kind, name, path } = WORKLOADS_WEBHOOK;
  const read = configurations[kind];
  if (read.state === 'unread') return [say.notChecked(`${name}: ${read.reason}`, RIGHTS_FIX)];
  const here = registeredWebhooks(configurations).filter(({ expected }) => expected === WORKLOADS_WEBHOOK);
  const [first] = here;
  if (first === undefined) {
    const used = [...(valueOf(view)?.gangs.values() ?? [])].some((gang) => workloadOf(gang) !== undefined);
    const what = `${name} is not registered: a workload that cannot be a gang is not told so when it is created`;
    return [used ? say.warning(what, APPLY) : say.ok(`${what}; none asks for a gang so far`)];
  }
  const found = here.flatMap(({ configuration, webhook }) => {
    const where = `${name} in ${configuration}`;
    return [
      ...checkPath(say, where, { webhook, path, fix: APPLY }),
      ...notAsked(where, webhook, kinds),
      ...inTheWay(where, webhook),
    ];
  });
  found.push(...checkOnce(say, WORKLOADS_WEBHOOK, here));
  const fine = `${name} in ${first.configuration} sends workloads with the label ${LABEL_GANG} to ${path}`;
  return found.length > 0 ? found : [say.ok(fine)];
}

function notAsked(where: string, webhook: JsonObject, kinds: readonly GangKind[]): Diagnosis[] {
  const lacking = askedAbout(kinds).filter(({ group, resource }) =>
    ['CREATE', 'UPDATE'].some((operation) => !covers(webhook, { group, operation, resource })),
  );
  if (lacking.length === 0) return [];
  const names = lacking.map(({ group, resource }) => (group === '' ? resource : `${resource}.${group}`));
  return [
    say.warning(
      `${where} is not asked about CREATE and UPDATE of ${names.join(', ')}: such a workload is not told when it cannot be a gang`,
      `${APPLY}; for a kind of workloads[] add its resource to the rules, and where its templates stand to the condition (docs/workloads.md)`,
    ),
  ];
}

/**
 * Reports a failurePolicy or timeout that delays workloads while Muster is down, and a call for workloads without the label.
 */
function inTheWay(where: string, webhook: JsonObject): Diagnosis[] {
  const findings: Diagnosis[] = [];
  const policy = ownString(webhook, 'failurePolicy');
  if (policy !== 'Ignore') {
    const what = `${where} has failurePolicy ${policy ?? 'unset'}: while Muster is down no workload with the label is created`;
    findings.push(say.warning(what, `set failurePolicy: Ignore (${APPLY})`));
  }
  const conditions = ownList(webhook, 'matchConditions') ?? [];
  if (!conditions.some((one) => (ownString(one, 'expression') ?? '').includes(MUSTER_PREFIX))) {
    const what = `${where} has no matchConditions for the label ${LABEL_GANG}: every workload of the cluster is sent to Muster`;
    findings.push(say.warning(what, APPLY));
  }
  const timeout = own(webhook, 'timeoutSeconds');
  if (typeof timeout !== 'number' || timeout > LONGEST) {
    const what = `${where} has timeoutSeconds ${typeof timeout === 'number' ? timeout : 'unset'}: each such workload waits for as long while Muster is down`;
    findings.push(say.warning(what, `set timeoutSeconds: 2 (${APPLY})`));
  }
  return findings;
}
