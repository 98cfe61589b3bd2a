import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { settings } from '../../src/config/settings.ts';
import { memoryLimitsOf } from '../../src/kube/loop/cache-memory.ts';
import { ELSEWHERE } from '../cluster/bypass/table/elsewhere.ts';
import { TABLE } from '../cluster/bypass/table.ts';
import {
  COMPONENTS,
  endOf,
  STATES,
  TRIERS,
  type End,
  type Refuser,
  type State,
  type Way,
} from '../cluster/bypass/way.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const { trustedAccounts } = parse(read('manifests/base/config.yaml')) as { trustedAccounts: string[] };

const INTRODUCTION = `# What others can do, and what stops them

What Muster keeps, whom it has to trust for that, and what stays open. Each way round it is tried on a real API server:
[all of them, with what stops each](reference/attacks.md). How to report a fault: [SECURITY.md](../SECURITY.md).

## What is kept

1. No Pod of a gang starts before its gang is complete, whoever is up or down.
2. A gang of one namespace is nobody's business in another: not its Pods, not its count, not its start.
3. What one tenant or a stranger does costs another little: time within limits, and no memory.
4. Whoever takes Muster over, or its token, can start gangs early, and no more; what the rights of components add is
   [below](#what-a-stolen-token-can-do).

## Who is trusted, and with what

| Who | With what |
|---|---|
| whoever administers the cluster | everything: policies and webhooks can be deleted. The policies hold against \`system:masters\` all the same, since most of what goes wrong is an accident |
| ${trustedAccounts.map((account) => `\`${account}\``).join(', ')} | taking gates off and writing Initialized: \`trustedAccounts\` of the configuration, from which the policies are made. The Grove operator's account is there only in the overlays beside Grove, since whoever can create a namespace could be it elsewhere |
| whoever is bound to the Role \`muster-release\` of \`manifests/on-call\` | taking gates off by hand, of any gang, as \`system:serviceaccount:muster-system:muster-release\`, which may do nothing else. Not applied unless you do; whoever makes accounts in \`muster-system\` can make this one as he can use Muster's |
| \`system:serviceaccount:muster-system:muster-dashboard\` of the component \`dashboard\` | listing Pods and PodGangs everywhere. Its process has the tokens of those who signed in |
| the API server | what it says in a review. Muster asks for its certificate only where \`server.webhooks.clientCertificate\` is set: managed clusters do not give one. Without it anybody who reaches the port gets answers: one changes nothing, and names nothing that the review did not, but [a patch tells](certificates.md#checking-who-calls) what a Pod would be prepared with |
| schedulers | placing Pods without gates: what "all or none" means after release is theirs |
| nodes | the Pods that are bound to them, and mirror Pods on themselves |
| modules of backends and preparations that are configured | what their patch surface declares |
| tenants | their namespace: how many Pods their gang needs, and which of them are of a gang at all, is theirs to say |
`;

const WAYS = `# What is tried against Muster

Who tries what, and what stops it, by the table in \`test/cluster/bypass/\`, which is run row by row on a real API server with the
policies of \`manifests/policies\`. What follows from it: [security.md](../security.md). After a change there:
\`UPDATE_DOCS=1 npm run test:unit\`.

## Who tries

| Name | What he holds |
|---|---|
| ${TRIERS.tenant} | the ClusterRole \`edit\` (where a row says so, more) in one namespace |
| ${TRIERS.stranger} | the network, and no account |
| ${TRIERS.node} | the credentials of a kubelet |
| ${TRIERS.namespaces} | the right to create namespaces, and what comes with those |
| ${TRIERS.webhook} | a mutating webhook that is asked after Muster's |
| ${TRIERS.token} | a token of Muster's account, or Muster's process |
| ${TRIERS.author} | a module of a backend or a preparation that is configured |
| \`${TRIERS.masters}\` | everything |

## The ways

Each is tried while Muster runs (*up*), while its webhook configurations are gone and its loop runs (*gone*), and while it is
registered and does not answer (*down*). Where no state is named it is the same in all three; where some are, the others are
not tried. Every refusal is asserted to the code, the one who refuses and his rule, and that nothing stored has changed.
`;

const sayRefuser = (by: Refuser): string => {
  switch (by.kind) {
    case 'policy':
      return `policy \`${by.name}\` (\`${by.rule}\`)`;
    case 'webhook':
      return `webhook \`${by.name}\` (\`${by.rule}\`)`;
    case 'unreachable':
      return `webhook \`${by.name}\` is not there, and \`failurePolicy: Fail\``;
    case 'rights':
      return 'RBAC';
    case 'api-server':
      return 'the API server itself';
    case 'muster':
      return 'Muster’s server';
  }
};

const sayEnd = (end: End): string => {
  if (end.kind === 'refused')
    return `${end.status}: ${sayRefuser(end.by)}${end.or === undefined ? '' : ` or ${sayRefuser(end.or)}`}${end.note === undefined ? '' : `: ${end.note}`}`;
  const says = { open: '**not stopped**', allowed: 'allowed', harmless: 'taken, without effect' };
  return `${says[end.kind]}: ${end.because}`;
};

/** States that end alike are told of together. */
function sayEnds(way: Way): string {
  const groups = new Map<string, State[]>();
  for (const state of STATES) {
    const end = endOf(way, state);
    if (end === undefined) continue;
    const said = sayEnd(end);
    groups.set(said, [...(groups.get(said) ?? []), state]);
  }
  const when = (states: readonly State[]): string =>
    states.length === STATES.length ? '' : `*${states.join(', ')}*: `;
  return [...groups].map(([said, states]) => `${when(states)}${said}`).join('<br>');
}

const nameOf = (who: keyof typeof TRIERS): string =>
  who === 'masters' ? `\`${TRIERS.masters}\`` : TRIERS[who];
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('__', '\\_\\_');
const rowOf = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const HEAD = ['| Who | tries | What stops it |', '|---|---|---|'];

const sections = TABLE.map(([title, ways]) =>
  [`### ${title}`, '', ...HEAD, ...ways.map((way) => rowOf([nameOf(way.who), way.tries, sayEnds(way)]))].join(
    '\n',
  ),
);

const elsewhere = [
  '### Without a control plane',
  '',
  'These are tried by the test that is named.',
  '',
  '| Who | tries | What stops it | Test |',
  '|---|---|---|---|',
  ...ELSEWHERE.map(({ who, tries, because, file }) => rowOf([nameOf(who), tries, because, `\`${file}\``])),
].join('\n');

const short = (way: Way): string => {
  const ends = STATES.flatMap((state) => endOf(way, state) ?? []);
  return ends.some(({ kind }) => kind === 'open') ? '**yes**' : 'no';
};
const token = [
  '## What a stolen token can do',
  '',
  'By what is installed: the base with the backends, and each component that gives the account more rights. `–` is what there is no',
  'right to. [Everything else that was tried](reference/attacks.md) is stopped, as long as the policies are installed with the',
  'components: RBAC alone stops none of it.',
  '',
  `| A stolen token | base | ${COMPONENTS.map((name) => `\`${name}\``).join(' | ')} |`,
  `|---|---|${COMPONENTS.map(() => '---|').join('')}`,
  ...TABLE.flatMap(([, ways]) => ways)
    .filter((way) => way.who === 'token' && short(way) !== 'no')
    .map((way) => {
      const { component } = way;
      const cells = [undefined, ...COMPONENTS].map((one) =>
        component === undefined || component === one ? short(way) : '–',
      );
      return rowOf([way.tries, ...cells]);
    }),
  '',
  '`workloads` adds rights to read the workloads of other projects, and none to change them. The components for Karmada give the',
  'account rights in Karmada’s API server, where whoever has it decides where the workloads of the fleet run, and reads them',
  '([fleet.md](fleet.md#the-assigner)): no policy narrows what it writes into bindings.',
  '',
  '`in-cluster-certificates` keeps the CA’s key in the Secret `muster-certificates`. Without its policy `muster-account-webhooks` a thief',
  'could have every object of the cluster sent to him ([why it is so](adr/0047-certificates-in-the-cluster-cost-the-bound-of-a-stolen-token.md)).',
].join('\n');

const remains = [
  '## What remains, and why',
  '',
  ...TABLE.flatMap(([, ways]) =>
    ways.flatMap((way) => {
      const open = STATES.flatMap((state) => {
        const end = endOf(way, state);
        return end?.kind === 'open' ? [end.because] : [];
      })[0];
      return open === undefined
        ? []
        : [`- A ${nameOf(way.who)} ${way.tries}. ${open[0]?.toUpperCase() ?? ''}${open.slice(1)}.`];
    }),
  ),
  '- An administrator deletes policies, bindings or webhooks: nothing can forbid that; watch for it.',
  '- Before Kubernetes 1.36 the API server does not put the gate on by itself: gang Pods are refused while Muster is down.',
  '- Whoever reaches the port may have reviews answered, and be a part of the load: see *Limits*, and narrow the NetworkPolicy',
  '  with an `ipBlock` where the addresses of the API servers are known.',
].join('\n');

const failingOpen = readdirSync(join(ROOT, 'manifests/policies'))
  .filter((file) => /^ {2}failurePolicy: Ignore$/m.test(read(`manifests/policies/${file}`)))
  .map((file) => `\`muster-${file.replace('.yaml', '')}\``);
const unjudged = [
  '## What a policy lets in that it cannot judge',
  '',
  'A policy with `failurePolicy: Fail` refuses what it cannot judge: an expression that fails or costs too much, parameters',
  `that are not there. All do so but ${failingOpen.join(', ')}. Their parameters are the PodGangs of a`,
  'namespace, and where the definition of PodGangs is missing, before the installation or in the middle of taking Muster away,',
  '`Fail` would refuse every Pod that names a group of kube-scheduler, KAI, Volcano or coscheduling, and every Binding of Volcano,',
  'in namespaces that have never seen a gang; before Kubernetes 1.36, where nobody marks those, every Pod of the cluster. What they keep is worth less',
  'than that: a stranger needs the right to create Pods in the very namespace of the gang. What is left open by it:',
  '',
  '- With the definition missing there is no gang to join, and nothing is judged.',
  '- No parameters (a namespace without PodGangs) is no failure: the binding says `parameterNotFoundAction: Allow`.',
  '- Cost: the budget is of one Pod beside one PodGang, and the expressions only look up keys, so that neither a Pod nor a',
  '  PodGang as large as the API server takes comes near it. That is tried.',
  '- An API server that has just started and cannot list PodGangs within a second judges without them.',
  '',
  'For each Pod or Binding that they are about these look at every PodGang of its namespace, which takes the API server about a quarter',
  'of a millisecond each. So `muster-mark-strangers` labels the Pods that name a group other than their own gang’s',
  '(`muster.dev/names-group`) and `muster-mark-bindings` the Bindings that name any, and only those are looked at: for all others',
  'a thousand PodGangs cost nothing. A group that is called as the controllers of Volcano, of KAI and of Kubernetes’ Jobs call',
  'theirs, with a uid or a hash, is not marked: of a gang with such a name a stranger may become a member.',
].join('\n');

const limit = (name: string): string => {
  const found = settings.find(({ path }) => path === `server.webhooks.limits.${name}`);
  return `| \`${found?.path ?? ''}\` | ${JSON.stringify(found?.default)} | ${found?.description ?? ''} |`;
};
const waiting = /MAX_WAITING_OF_NAMESPACE = (\d+)/.exec(read('src/kube/loop/event-recorder.ts'))?.[1];
const room = memoryLimitsOf(1);
const part = (share: number): string => `1/${1 / share}`;
const limits = [
  '## Limits',
  '',
  'Each of these has a bound for a peer or a namespace, and something that nobody else can take, so that one tenant or stranger at',
  'his bound stops nobody. How much slower others are meanwhile is measured for each attack: at most twice as slow for most, more',
  'for [some floods](benchmarks.md#beside-an-attack).',
  '',
  '| What | Bound | What others keep |',
  '|---|---|---|',
  '| connections, reviews and bytes in flight, turns | [operations.md](operations.md#limits) | whoever holds most gives way |',
  `| memory of the caches | ${part(room.total)} of the heap in all, ${part(room.ofNamespace)} of one namespace | ${part(room.reserve)} for each |`,
  `| Events that wait | ${waiting ?? ''} of one namespace | each namespace has its turn |`,
  '| gangs that are worked on at a time | of one namespace as many as [calls in flight](loop.md); a gang above 250 groups takes a tenth of all for each 250 | as many more for the others |',
  '',
  'The settings of the port ([configuration.md](reference/configuration.md)):',
  '',
  '| Setting | Default | What |',
  '|---|---|---|',
  ...['maxBodyBytes', 'maxInFlightBytes', 'maxInFlight', 'maxConnections'].map(limit),
].join('\n');

const PAGES = {
  'docs/security.md': [INTRODUCTION, token, remains, unjudged, limits],
  'docs/reference/attacks.md': [WAYS, ...sections, elsewhere],
};

test.each(Object.entries(PAGES))('%s is what the table says', (name, parts) => {
  const file = join(ROOT, name);
  const wanted = `${parts.map((part) => part.trim()).join('\n\n')}\n`;
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted);
  expect(readFileSync(file, 'utf8')).toBe(wanted);
});

describe('the ways that are tried elsewhere', () => {
  test.each(ELSEWHERE.map((way) => [way.tries, way] as const))('%s', (_, { file, test: name }) => {
    expect(read(file)).toContain(name);
  });
});

test('at least sixty ways are tried on the control plane', () => {
  const ways = TABLE.flatMap(([, all]) => all);
  expect(ways.length).toBeGreaterThanOrEqual(60);
  expect(new Set(ways.map(({ who, tries }) => `${who} ${tries}`)).size).toBe(ways.length);
});
