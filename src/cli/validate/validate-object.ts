import { checkNew } from '../../admission/pod-gangs.ts';
import type { Policy } from '../../admission/policy.ts';
import { own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { parseGroupVersion } from '../../k8s/resource.ts';
import {
  HPC_POLICY_API_VERSION,
  HPC_POLICY_GROUP,
  HPC_POLICY_KIND,
  LABEL_POD_GANG,
  POD_GANG_API_VERSION,
  POD_GANG_GROUP,
  POD_GANG_KIND,
} from '../../api/names.ts';
import { keyed, printable, quoted } from '../../text/printable.ts';
import { nearestKey } from '../../text/nearest-key.ts';
import { profileFaults } from '../../backends/contract.ts';
import { builtInBackends, withoutGangPreemption } from '../../backends/registry.ts';
import type { ConfigFault } from '../../config/config-fault.ts';
import { checkConfiguration } from '../../config/load.ts';
import { CONFIG_API_VERSION, CONFIG_KIND } from '../../config/schema.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { parseHpcPolicy } from '../../preparers/policy/hpc-policy.ts';
import { isPodGangName } from '../../api/pod-gang.ts';
import { managersOf, verdictOnPolicy } from '../../preparers/registry.ts';
import { workloadFindings } from './workload-findings.ts';
import { readObjects } from '../input/documents.ts';
import type { SourceObject } from '../input/source-object.ts';
import { unknownPodGangFields } from '../input/pod-gang-fields.ts';
import { notText } from '../gangs/slips.ts';
import { noticeText } from '../gangs/notices.ts';
import { findingOf, type Finding } from '../output/findings.ts';
import { toYaml } from '../output/structured.ts';
import { gangKinds } from '../../workloads/kinds.ts';

export interface ValidationContext {
  readonly policy: Policy;
  /** Namespace of PodGangs without one. */
  readonly namespace: string;
  readonly supportedSchedulers: readonly string[];
}

/** Findings about one object; undefined where it is of no kind that is validated. */
export function validateObject(source: SourceObject, context: ValidationContext): Finding[] | undefined {
  const [apiVersion, kind] = ['apiVersion', 'kind'].map((key) => ownString(source.object, key) ?? '');
  if (apiVersion === POD_GANG_API_VERSION && kind === POD_GANG_KIND)
    return inOrder(checkPodGang(source, context));
  if (apiVersion === HPC_POLICY_API_VERSION && kind === HPC_POLICY_KIND) {
    return inOrder(checkHpcPolicy(source, context));
  }
  if (apiVersion === CONFIG_API_VERSION && kind === CONFIG_KIND) return checkConfig(source, context);
  if ((apiVersion === 'v1' || apiVersion === '') && kind === 'ConfigMap')
    return checkConfigMap(source, context);
  const workload = workloadFindings(source, context.policy.gangKinds);
  if (workload !== undefined) return inOrder(workload);
  const wrong = misnamed(apiVersion ?? '', kind ?? '');
  return wrong && [finding(source, 'error', wrong.path, wrong.message, 'KindUnknown')];
}

function checkHpcPolicy(source: SourceObject, { policy, namespace }: ValidationContext): Finding[] {
  const { preparations } = policy;
  const read = parseHpcPolicy(source.object, namespace, managersOf(preparations));
  const { faults, warnings } = verdictOnPolicy(read.policy, preparations);
  return [
    ...[...read.faults, ...faults].map((one) => findingOf(source, one)),
    ...warnings.map((message) => finding(source, 'warning', '', printable(message), 'AdmissionWarning')),
  ];
}

function finding(
  source: SourceObject,
  severity: Finding['severity'],
  path: string,
  message: string,
  rule: string,
): Finding {
  return { file: source.file, ...source.locate(path), severity, path, message, rule };
}

function checkPodGang(source: SourceObject, { policy, namespace }: ValidationContext): Finding[] {
  const { object } = source;
  const parsed = parsePodGang(object, ownString(own(object, 'metadata'), 'namespace') || namespace);
  const { faults, warnings } = checkNew(parsed, policy);
  return [
    ...unknownPodGangFields(object).map(({ path, message }) =>
      finding(source, 'error', path, message, 'FieldUnknown'),
    ),
    ...checkName(source, object),
    ...faults.map(({ field, message, rule }) => finding(source, 'error', field, message, rule)),
    ...warnings.map((message) => finding(source, 'warning', '', printable(message), 'AdmissionWarning')),
  ];
}

/** Checks the name, which the API server would check for a stored object. */
function checkName(source: SourceObject, object: JsonObject): Finding[] {
  const metadata = own(object, 'metadata');
  const name = own(metadata, 'name') ?? undefined;
  const wrong = (message: string, rule: string): Finding[] => [
    finding(source, 'error', 'metadata.name', message, rule),
  ];
  if (name === undefined) {
    if (ownString(metadata, 'generateName') !== undefined) return [];
    return wrong('Required value: a PodGang has a name; add it', 'NameMissing');
  }
  if (typeof name !== 'string') {
    const about = notText(name, source.written('metadata.name'));
    return wrong(noticeText('NameNotText', about), 'NameNotText');
  }
  // The rules of admission report a name that is too long.
  if (name.length > 63 || isPodGangName(name)) return [];
  const message = `Invalid value: ${quoted(name)}: a lower-case DNS name of at most 63 characters, since it is the value of the label ${LABEL_POD_GANG}`;
  return wrong(message, 'GangNameInvalid');
}

const faultOptions = (supportedSchedulers: readonly string[]) => ({
  supportedSchedulers,
  actsFor: withoutGangPreemption(),
  workloads: gangKinds,
});

function checkConfig(source: SourceObject, { supportedSchedulers }: ValidationContext): Finding[] {
  const faults = checkConfiguration(source.text ?? toYaml(source.object), faultOptions(supportedSchedulers));
  const wrong = faults.some(({ severity }) => severity === 'error');
  return [...placed(source, faults), ...(wrong ? [] : checkProfiles(source))];
}

/**
 * Checks the `config` of profiles with built-in backends. A third party's module is not run to check a file: `muster serve`
 * reports its faults.
 */
function checkProfiles(source: SourceObject): Finding[] {
  const { object } = source;
  const written = own(object, 'topologyAwareScheduling');
  const levels = ownList(written, 'levels') ?? [];
  const topology = {
    enabled: own(written, 'enabled') === true,
    keys: levels.flatMap((level) => ownString(level, 'key') ?? []),
  };
  const profiles = ownList(own(object, 'scheduler'), 'profiles') ?? [];
  return profiles.flatMap((profile, index) => {
    const name = ownString(profile, 'name') ?? '';
    const factory = builtInBackends.find(
      (one) => one.name === name || Object.hasOwn(one.aliases ?? {}, name),
    );
    if (factory === undefined || own(profile, 'module') !== undefined) return [];
    const config = ownObject(profile, 'config') ?? {};
    return profileFaults(factory, { config, topology }).map(({ field, message }) =>
      finding(
        source,
        'error',
        field.startsWith('config') ? `scheduler.profiles[${index}].${field}` : field,
        printable(message, 1024),
        CONFIG,
      ),
    );
  });
}

function placed(source: SourceObject, faults: readonly ConfigFault[]): Finding[] {
  return faults.map(({ path, message, severity, line, column }) => {
    const place =
      source.text === undefined || line === undefined ? source.locate(path) : { line, column: column ?? 1 };
    return { file: source.file, ...place, severity, path, message: printable(message, 1024), rule: CONFIG };
  });
}

const CONFIG = 'CONFIG_INVALID';
/** A configuration by its kind or, where apiVersion and kind are missing, by keys that no other document begins with. */
const HOLDS_CONFIGURATION = new RegExp(
  `^[\\s{]*"?kind"?: *["']?${CONFIG_KIND}\\b|^scheduler: *\\n +(?:profiles|defaultProfileName):|^trustedAccounts:`,
  'm',
);

/**
 * Checks the configuration in a ConfigMap, as the manifests have it. Faults have the lines of the file where the text is
 * literal (`|`), else the line of its key.
 * @returns undefined where the ConfigMap holds no configuration
 */
function checkConfigMap(
  source: SourceObject,
  { supportedSchedulers }: ValidationContext,
): Finding[] | undefined {
  const texts = Object.entries(ownObject(source.object, 'data') ?? {}).flatMap(([key, text]) =>
    typeof text === 'string' && HOLDS_CONFIGURATION.test(text) ? [{ path: keyed('data', key), text }] : [],
  );
  if (texts.length === 0) return undefined;
  return texts.flatMap(({ path, text }) => {
    const first = source.literal(path);
    const faults = checkConfiguration(text, faultOptions(supportedSchedulers));
    const wrong = faults.some(({ severity }) => severity === 'error');
    const [inner] = wrong ? [] : readObjects({ name: source.file, text }, () => undefined);
    const all = [...faults, ...(inner === undefined ? [] : checkProfiles(inner))];
    return all.map((fault): Finding => {
      const { severity, line = 1, column = 1 } = fault;
      const message = printable(fault.message, 1024);
      const place =
        first === undefined
          ? source.locate(path)
          : { line: first.line + line - 1, column: first.column + column - 1 };
      const at = fault.path === '' ? path : `${path}.${fault.path}`;
      return { file: source.file, ...place, severity, path: at, message, rule: CONFIG };
    });
  });
}

const KINDS = [
  { apiVersion: POD_GANG_API_VERSION, kind: POD_GANG_KIND, group: POD_GANG_GROUP },
  { apiVersion: HPC_POLICY_API_VERSION, kind: HPC_POLICY_KIND, group: HPC_POLICY_GROUP },
  { apiVersion: CONFIG_API_VERSION, kind: CONFIG_KIND, group: parseGroupVersion(CONFIG_API_VERSION).group },
] as const;

/**
 * Reports an object that was probably meant for Muster: a known or misspelt kind under another apiVersion, or another kind
 * under a known apiVersion.
 */
function misnamed(apiVersion: string, kind: string): { path: string; message: string } | undefined {
  for (const known of KINDS) {
    // An apiVersion that lacks its version has the same group.
    const sameGroup = apiVersion.split('/')[0] === known.group;
    if (kind === known.kind || nearlyThe(kind, known.kind)) {
      if (apiVersion === known.apiVersion) return unknown('kind', kind, known.kind);
      // Other programs may have a kind of this name in a group of their own.
      if (apiVersion === '' || sameGroup || nearestKey(apiVersion, [known.apiVersion]) !== undefined) {
        return unknown('apiVersion', apiVersion, known.apiVersion);
      }
    } else if (apiVersion === known.apiVersion && known.group !== HPC_POLICY_GROUP) {
      // Muster's own group has other kinds, of which only HPCPolicies are written by hand.
      return unknown('kind', kind, known.kind);
    }
  }
  return undefined;
}

const nearlyThe = (kind: string, known: string): boolean =>
  kind !== '' && nearestKey(kind, [known]) !== undefined;

const unknown = (
  path: 'apiVersion' | 'kind',
  found: string,
  meant: string,
): { path: string; message: string } => ({
  path,
  message:
    found === ''
      ? `must be given: "${meant}"`
      : `unknown ${path} ${quoted(found)} (did you mean "${meant}"?)`,
});

/** Findings in the order of the file, whichever rule found them. */
const inOrder = (findings: readonly Finding[]): Finding[] =>
  [...findings].sort((a, b) => a.line - b.line || a.column - b.column);
