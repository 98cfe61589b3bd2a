import { ownString, type JsonObject } from '../../json/json.ts';
import { MUSTER_SERVICE_ACCOUNT } from '../../api/names.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { SCHEDULER_BACKENDS } from '../../controller/scheduler-objects/publish.ts';
import { readLease, type LeaseRecord } from '../../kube/loop/lease-record.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { LEASES, type KubeObject, type Resource } from '../../kube/client/resources.ts';
import { askBackends } from '../../status/ask-backends.ts';
import { readView } from '../../status/read-status.ts';
import { checkBackends, type Looked } from './check-backends.ts';
import { checkCertificate } from './check-certificate.ts';
import { checkInstalled } from './installed/check-installed.ts';
import { readInstalled, readShipped } from './installed/wanted.ts';
import { BACKEND_DEFINITION, checkDefinitions, POD_GANG_DEFINITION } from './check-definitions.ts';
import { checkGangs } from './check-gangs.ts';
import { checkPolicies, trustingIn } from './check-policies.ts';
import { checkProgram, checkVersion } from './check-program.ts';
import { checkRights, readRights } from './read-rights.ts';
import { checkTrials, dryRuns } from './check-trial.ts';
import { checkWebhooks, registeredWebhooks } from './check-webhooks.ts';
import { checkWorkloadsWebhook } from './check-workloads-webhook.ts';
import { mountedSecret } from './program-objects.ts';
import {
  expectedRights,
  HPC_RULES,
  keptCertificateRules,
  preemptionRules,
  configuredWorkloadRights,
} from './expected-rights.ts';
import { saying, attempt, valueOf, type Diagnosis, type Read } from './diagnosis.ts';
import { examineProgram } from './examine-program.ts';
import { checkKept, readKept } from './kept-certificates.ts';
import { readServedCertificate } from './read-certificate.ts';
import { readConfigured } from './read-configuration.ts';
import { gangKindsWith } from '../../workloads/configured-gangs.ts';

export interface Examination {
  readonly client: KubeClient;
  readonly config: string | undefined;
  /** The namespace that Muster is installed in. */
  readonly namespace: string;
  /** The namespace of the dry runs of Pods and PodGangs. */
  readonly tryIn: string;
  readonly muster: string;
  readonly now: Date;
}

const NOT_SHIPPED = saying('program', 'manifests').notChecked(
  'this program came without its manifests: nothing is compared with them',
  'run the doctor of the image, the package or a checkout',
);

const cluster = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const ADMISSION = 'admissionregistration.k8s.io';
const MUTATING = cluster(ADMISSION, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations');
const VALIDATING = cluster(ADMISSION, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations');
const DEFINITIONS = cluster('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions');
const DEPLOYMENTS: Resource = { ...cluster('apps', 'Deployment', 'deployments'), namespaced: true };
const policy = (kind: string, plural: string): Resource => cluster(ADMISSION, kind, plural);

/** Runs every check. @throws MusterError CLUSTER_UNREACHABLE, and the errors of a configuration file that is named */
export async function examine(given: Examination): Promise<{ kubernetes: string; findings: Diagnosis[] }> {
  const { client, namespace, muster, now } = given;
  const list = (resource: Resource): Promise<Read<readonly JsonObject[]>> =>
    attempt(async () => (await client.list<JsonObject>(resource)).items);
  const get = (resource: Resource, name: string, of?: string): Promise<Read<JsonObject>> =>
    attempt(() => client.get<JsonObject>({ resource, name, ...(of === undefined ? {} : { namespace: of }) }));
  const lease = async (of: string, name: string): Promise<Read<LeaseRecord>> =>
    attempt(async () => readLease(await client.get<KubeObject>({ resource: LEASES, namespace: of, name })));

  const deployment = await get(DEPLOYMENTS, 'muster', namespace);
  const { configuration, registry, factories, finding } = await readConfigured(
    client,
    given.config,
    deployment,
    namespace,
  );
  const { leaderElection, trustedAccounts, controllers, preemption, hpc, workloads } = configuration;
  const place = {
    namespace: leaderElection.resourceNamespace || namespace,
    name: leaderElection.resourceName,
  };
  const gangKinds = gangKindsWith(workloads);
  const account = `system:serviceaccount:${namespace}:${MUSTER_SERVICE_ACCOUNT}`;

  const configurations = {
    MutatingWebhookConfiguration: await list(MUTATING),
    ValidatingWebhookConfiguration: await list(VALIDATING),
  };
  const lists = {
    ...configurations,
    MutatingAdmissionPolicy: await list(policy('MutatingAdmissionPolicy', 'mutatingadmissionpolicies')),
    MutatingAdmissionPolicyBinding: await list(
      policy('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings'),
    ),
    ValidatingAdmissionPolicy: await list(policy('ValidatingAdmissionPolicy', 'validatingadmissionpolicies')),
    ValidatingAdmissionPolicyBinding: await list(
      policy('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
    ),
  };
  const unserved = new Set(
    Object.entries(lists).flatMap(([kind, read]) => (read.state === 'absent' ? [kind] : [])),
  );
  const shipped = readShipped(namespace);
  const live = await readInstalled(client, shipped?.identities ?? [], lists);
  const selectors = controllers.podGang;
  const webhooks = registeredWebhooks(configurations);
  const kept = await readKept(client, valueOf(deployment), configuration.server.certificates, namespace);
  const certificateIn = kept?.secretName ?? mountedSecret(valueOf(deployment));
  const [version, certificate, podGang, backend, rights, trials, view, refusals] = await Promise.all([
    client.read<JsonObject>('/version'),
    readServedCertificate(client, webhooks, { namespace, name: certificateIn, kept: kept !== undefined }),
    get(DEFINITIONS, POD_GANG_DEFINITION),
    get(DEFINITIONS, BACKEND_DEFINITION),
    readRights(
      client,
      account,
      expectedRights(place, factories, [
        ...preemptionRules(preemption),
        ...(hpc.enabled ? HPC_RULES : []),
        ...configuredWorkloadRights(gangKinds),
        ...(kept === undefined ? [] : keptCertificateRules(kept)),
      ]),
    ),
    dryRuns(client, given.tryIn),
    attempt(() => readView(client, undefined, controllers.podGang, gangKinds)),
    askBackends(registry, (signal) => clusterProbe(client, namespace, { signal })),
  ]);
  const kubernetes = ownString(version, 'gitVersion') ?? '';
  const ownLease = leaderElection.enabled
    ? { key: `${place.namespace}/${place.name}`, read: await lease(place.namespace, place.name) }
    : undefined;
  const deployments = await list(DEPLOYMENTS);
  const around = await examineProgram({
    ...{ client, namespace, now, shipped, deployment, deployments, kubernetes },
    nativeGangs: nativeGangsOf(registry),
    lease: ownLease && { name: place.name, read: ownLease.read },
    asksCallers: configuration.server.webhooks.clientCertificate !== undefined,
  });
  const { time } = around;
  const authority = kept === undefined ? around.authority : kept.authority;
  const findings = [
    checkVersion(kubernetes),
    ...around.clock,
    ...checkDefinitions({ podGang, backend }),
    ...checkRights(rights),
    ...(shipped === undefined
      ? [NOT_SHIPPED]
      : checkInstalled({ shipped, live, lists, unserved, selectors })),
    ...checkWebhooks(configurations),
    ...checkWorkloadsWebhook(configurations, view, gangKinds),
    ...checkCertificate(certificate, webhooks, { now: time, namespace, authority, kept }),
    ...(kept === undefined
      ? []
      : checkKept(kept, configurations, { now: time, served: valueOf(certificate)?.chain })),
    ...checkTrials(trials),
    ...checkPolicies(
      {
        mutating: lists.MutatingAdmissionPolicy,
        validating: lists.ValidatingAdmissionPolicy,
      },
      trustingIn(shipped?.whole ?? []),
      trustedAccounts,
      account,
    ),
    finding,
    ...checkProgram({ now: time, namespace, kubernetes, muster, deployment, lease: ownLease }),
    ...around.program,
    ...checkBackends({
      now: time,
      defaultBackend: registry.default.name,
      enabled: await Promise.all(
        factories.map(async ({ name, traces }) => ({
          name,
          readiness: registry.readiness(name),
          traces,
          room: roomFor(name, registry, preemption),
          lease: traces?.lease && (await lease(traces.lease.namespace, traces.lease.name)),
          // A right that the user of the doctor lacks says nothing about Muster.
          blind: isForbidden(refusals.get(name)),
        })),
      ),
      published: await list(SCHEDULER_BACKENDS),
      deployments,
    }),
    ...checkGangs(view, time),
  ];
  return { kubernetes, findings };
}

/** API version of native gangs in this cluster, as a backend's `init` found it. */
const nativeGangsOf = (registry: BackendRegistry): string =>
  registry.enabled
    .map((name) => registry.readiness(name))
    .map((readiness) => (readiness.state === 'ready' ? readiness.facts.version : ''))
    .map((version) => version.split(',')[0] ?? '')
    .find((version) => version.startsWith('scheduling.k8s.io/')) ?? 'none';

/** Who preempts for a backend's gangs; undefined where the configuration lets Muster preempt for none. */
function roomFor(
  name: string,
  registry: BackendRegistry,
  { mode, profiles }: { readonly mode: 'Off' | 'Act'; readonly profiles: readonly string[] },
): Looked['room'] {
  if (mode === 'Off') return undefined;
  if (profiles.length > 0 && !profiles.includes(name)) return 'not-asked';
  const own = registry.resolve(name)?.backend.preemptsGangs?.();
  return own === false ? 'muster' : own === true ? 'scheduler' : 'unknown';
}
