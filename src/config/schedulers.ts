import { isObject, own, ownList, ownString } from '../json/json.ts';
import { isLabelValue } from '../k8s/name-syntax.ts';
import { printable, quoted } from '../text/printable.ts';
import { type PathFault, error, warning } from './config-fault.ts';
import type { SchedulerProfile, Schedulers } from './configuration.ts';

/** Kubernetes’ own scheduler, which every configuration enables, listed or not. */
const DEFAULT_SCHEDULER = 'default-scheduler';

/** Former names of schedulers, with their current names. */
const SCHEDULER_ALIASES: Readonly<Record<string, string>> = { 'grove-scheduler': 'kai-scheduler' };

const PROFILES = ['scheduler', 'profiles'] as const;
const SHORT_FORM = ['schedulerName'] as const;
const DEFAULT_NAME = ['scheduler', 'defaultProfileName'] as const;

const unsupported = (name: string, supported: readonly string[]): string => {
  const current = supported.filter((known) => !Object.hasOwn(SCHEDULER_ALIASES, known));
  return `unsupported scheduler ${quoted(name)} (supported: ${printable(current.join(', '))})`;
};

/**
 * Grove’s rules for profiles, on the list as written. Profiles without a valid name are skipped: the schema has reported
 * them.
 */
export function checkProfiles(
  given: {
    readonly profiles: readonly { readonly name?: string | undefined }[];
    readonly defaultProfileName: string;
  },
  supported: readonly string[],
): PathFault[] {
  const findings: PathFault[] = [];
  const configured = new Set<string>();
  given.profiles.forEach(({ name }, index) => {
    const path = [...PROFILES, index, 'name'];
    if (name === undefined) return;
    if (name === '') findings.push(error(path, 'scheduler profile name is required'));
    else if (!supported.includes(name)) findings.push(error(path, unsupported(name, supported)));
    else if (configured.has(name)) findings.push(error(path, `duplicate scheduler profile ${quoted(name)}`));
    else configured.add(name);
  });
  if (given.profiles.length === 0)
    findings.push(error(PROFILES, 'at least one scheduler profile is required'));
  if (!configured.has(DEFAULT_SCHEDULER)) {
    findings.push(error(PROFILES, `the "${DEFAULT_SCHEDULER}" scheduler profile is required`));
  }
  if (given.defaultProfileName === '') {
    findings.push(error(DEFAULT_NAME, 'default scheduler profile name is required'));
  } else if (!configured.has(given.defaultProfileName)) {
    const names = printable([...configured].join(', '));
    findings.push(
      error(
        DEFAULT_NAME,
        `default profile must be one of the configured profiles (${names}), not ${quoted(given.defaultProfileName)}`,
      ),
    );
  }
  return findings;
}

interface Written {
  /** Empty strings count as absent, since Helm charts produce them. */
  readonly schedulerName: string;
  readonly profiles: readonly WrittenProfile[];
  readonly defaultProfileName: string;
}

type WrittenProfile = Omit<SchedulerProfile, 'name'> & { readonly name: string | undefined };

function read(document: unknown, rename: (name: string, path: PathFault['path']) => string): Written {
  const name = ownString(document, 'schedulerName') ?? '';
  const scheduler = own(document, 'scheduler');
  const defaultName = ownString(scheduler, 'defaultProfileName') ?? '';
  const profiles = (ownList(scheduler, 'profiles') ?? []).map((profile, index) => {
    const written = ownString(profile, 'name');
    const config = own(profile, 'config');
    const [module, integrity] = [ownString(profile, 'module'), ownString(profile, 'integrity')];
    return {
      name: written === undefined ? undefined : rename(written, [...PROFILES, index, 'name']),
      config: isObject(config) ? config : {},
      ...(module !== undefined && { module }),
      ...(integrity !== undefined && { integrity }),
    };
  });
  return {
    schedulerName: rename(name, SHORT_FORM),
    profiles,
    defaultProfileName: rename(defaultName, DEFAULT_NAME),
  };
}

const place = (index: number, key: keyof WrittenProfile): PathFault['path'] => [
  'scheduler',
  'profiles',
  index,
  key,
];

/** Faults of profiles with a module, as far as the document alone shows them. */
const checkModules = (profiles: readonly WrittenProfile[], builtIn: readonly string[]): PathFault[] =>
  profiles.flatMap(({ name = '', module, integrity }, index) => {
    if (module === undefined) {
      if (integrity === undefined) return [];
      return [error(place(index, 'integrity'), 'is the hash of a module: add module, or leave it out')];
    }
    if (builtIn.includes(name)) {
      return [
        error(
          place(index, 'module'),
          `${quoted(name)} comes with Muster: leave out module, or give your backend a name of its own`,
        ),
      ];
    }
    if (name === '' || isLabelValue(name)) return [];
    return [
      error(
        place(index, 'name'),
        `must be a label value, since gangs name their scheduler in a label: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends, not ${quoted(name)}`,
      ),
    ];
  });

/** Reports a short form that contradicts the long one; both may occur where they agree. */
function contradictions(written: Written): PathFault[] {
  const { schedulerName, profiles, defaultProfileName } = written;
  const findings: PathFault[] = [];
  const names = profiles.flatMap(({ name }) => (name === undefined ? [] : [name]));
  if (profiles.length > 0 && schedulerName !== DEFAULT_SCHEDULER && !names.includes(schedulerName)) {
    findings.push(
      error(
        SHORT_FORM,
        `schedulerName ${quoted(schedulerName)} contradicts scheduler.profiles (${printable(names.join(', '))}): list it there, or keep only one of the two`,
      ),
    );
  }
  if (defaultProfileName !== '' && defaultProfileName !== schedulerName) {
    findings.push(
      error(
        SHORT_FORM,
        `schedulerName ${quoted(schedulerName)} contradicts scheduler.defaultProfileName ${quoted(defaultProfileName)}: keep only one of the two`,
      ),
    );
  }
  return findings;
}

/** Appends `default-scheduler`, as Grove does, so that the positions of the written profiles stay. */
function withDefaultScheduler(profiles: Written['profiles']): Written['profiles'] {
  const listed = profiles.some(({ name }) => name === DEFAULT_SCHEDULER);
  return listed ? profiles : [...profiles, { name: DEFAULT_SCHEDULER, config: {} }];
}

const finish = (profiles: Written['profiles'], defaultProfileName: string): Schedulers => ({
  profiles: profiles.map((profile) => ({ ...profile, name: profile.name ?? '' })),
  defaultProfileName,
});

/**
 * The profiles of `schedulerName` and `scheduler`, with all faults of both. The list is valid only where no finding is an
 * error.
 *
 * - Nothing given, or an empty list of profiles: `default-scheduler` alone, and it is the default.
 * - `schedulerName: x`: x and `default-scheduler`, and x is the default.
 * - `scheduler.profiles`: these and `default-scheduler`; the default is `defaultProfileName`, and where that is absent
 *   `default-scheduler`, even when only another one is listed.
 *
 * @param builtIn names that need no module; a profile with a module adds its own name
 */
export function resolveSchedulers(
  document: unknown,
  builtIn: readonly string[],
): { readonly schedulers: Schedulers; readonly findings: readonly PathFault[] } {
  const findings: PathFault[] = [];
  const written = read(document, (name, path) => {
    const current = Object.hasOwn(SCHEDULER_ALIASES, name) ? SCHEDULER_ALIASES[name] : undefined;
    if (current === undefined || !builtIn.includes(current)) return name;
    findings.push(warning(path, `${quoted(name)} is deprecated: write "${current}"`));
    return current;
  });
  const { schedulerName, defaultProfileName } = written;
  findings.push(...checkModules(written.profiles, builtIn));
  const supported = [
    ...builtIn,
    ...written.profiles.flatMap(({ name, module }) => (module === undefined ? [] : (name ?? []))),
  ];

  if (schedulerName !== '') {
    if (!supported.includes(schedulerName)) {
      findings.push(error(SHORT_FORM, unsupported(schedulerName, supported)));
    } else {
      findings.push(...contradictions(written));
    }
    const listed: Written['profiles'] =
      written.profiles.length > 0 ? written.profiles : [{ name: schedulerName, config: {} }];
    const profiles = withDefaultScheduler(listed);
    if (written.profiles.length > 0) {
      findings.push(...checkProfiles({ profiles, defaultProfileName: DEFAULT_SCHEDULER }, supported));
    }
    return { schedulers: finish(profiles, schedulerName), findings };
  }

  if (written.profiles.length === 0) {
    if (defaultProfileName !== '' && defaultProfileName !== DEFAULT_SCHEDULER) {
      findings.push(
        warning(
          DEFAULT_NAME,
          `${quoted(defaultProfileName)} has no effect without scheduler.profiles: the default is "${DEFAULT_SCHEDULER}"; list the profile to change that`,
        ),
      );
    }
    return { schedulers: finish(withDefaultScheduler([]), DEFAULT_SCHEDULER), findings };
  }

  const profiles = withDefaultScheduler(written.profiles);
  const chosen = defaultProfileName === '' ? DEFAULT_SCHEDULER : defaultProfileName;
  findings.push(...checkProfiles({ profiles, defaultProfileName: chosen }, supported));
  return { schedulers: finish(profiles, chosen), findings };
}
