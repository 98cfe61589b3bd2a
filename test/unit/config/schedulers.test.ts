import { describe, expect, test } from '@jest/globals';
import { supportedSchedulers } from '../../../src/backends/registry.ts';
import { formatPath } from '../../../src/config/config-fault.ts';
import { checkProfiles, resolveSchedulers } from '../../../src/config/schedulers.ts';

const supported = ['default-scheduler', 'kai-scheduler'];
const KUBE = 'default-scheduler';
const KAI = 'kai-scheduler';

const lines = (
  findings: readonly { path: readonly (string | number)[]; message: string; severity: string }[],
) => findings.map(({ path, message, severity }) => `${severity} ${formatPath(path)}: ${message}`);
const profiles = (...names: string[]) => names.map((name) => ({ name }));

describe('defaulting, as Grove does it', () => {
  test.each([
    ['nothing', {}, [KUBE], KUBE],
    ['an empty list', { scheduler: { profiles: [] } }, [KUBE], KUBE],
    ['only kai', { scheduler: { profiles: profiles(KAI) } }, [KAI, KUBE], KUBE],
    [
      'only kai, default kai',
      { scheduler: { profiles: profiles(KAI), defaultProfileName: KAI } },
      [KAI, KUBE],
      KAI,
    ],
    [
      'both, default empty',
      { scheduler: { profiles: profiles(KUBE, KAI), defaultProfileName: '' } },
      [KUBE, KAI],
      KUBE,
    ],
    ['short form', { schedulerName: KAI }, [KAI, KUBE], KAI],
    ['short form, default', { schedulerName: KUBE }, [KUBE], KUBE],
    ['short form left empty by a chart', { schedulerName: '' }, [KUBE], KUBE],
    [
      'both forms, agreeing',
      { schedulerName: KAI, scheduler: { profiles: profiles(KAI) } },
      [KAI, KUBE],
      KAI,
    ],
    [
      'both forms, agreeing on the default too',
      { schedulerName: KAI, scheduler: { profiles: profiles(KUBE, KAI), defaultProfileName: KAI } },
      [KUBE, KAI],
      KAI,
    ],
    [
      'short form default beside profiles without it',
      { schedulerName: KUBE, scheduler: { profiles: profiles(KAI) } },
      [KAI, KUBE],
      KUBE,
    ],
  ])('%s', (_, document, names, defaultProfileName) => {
    const { schedulers, findings } = resolveSchedulers(document, supported);
    expect(lines(findings)).toEqual([]);
    expect(schedulers.profiles.map(({ name }) => name)).toEqual(names);
    expect(schedulers.defaultProfileName).toBe(defaultProfileName);
  });

  test('a default without profiles is overruled, and says so', () => {
    const { schedulers, findings } = resolveSchedulers({ scheduler: { defaultProfileName: KAI } }, supported);
    expect(schedulers).toEqual({ profiles: [{ name: KUBE, config: {} }], defaultProfileName: KUBE });
    expect(lines(findings)).toEqual([
      'warning scheduler.defaultProfileName: "kai-scheduler" has no effect without scheduler.profiles: the default is "default-scheduler"; list the profile to change that',
    ]);
  });

  test('config of a profile is kept as it is', () => {
    const config = { gang: true, nested: { a: [1, null] } };
    const { schedulers } = resolveSchedulers(
      { scheduler: { profiles: [{ name: KUBE, config }] } },
      supported,
    );
    expect(schedulers.profiles).toEqual([{ name: KUBE, config }]);
  });
});

describe('rules for a list as it stands, as Grove has them', () => {
  const required = 'error scheduler.profiles: the "default-scheduler" scheduler profile is required';
  test.each([
    [
      'nothing at all',
      [],
      '',
      [
        'error scheduler.profiles: at least one scheduler profile is required',
        required,
        'error scheduler.defaultProfileName: default scheduler profile name is required',
      ],
    ],
    ['kai alone', [KAI], KAI, [required]],
    [
      'twice',
      [KUBE, KUBE],
      KUBE,
      ['error scheduler.profiles[1].name: duplicate scheduler profile "default-scheduler"'],
    ],
    [
      'unknown and default unknown',
      ['unknown', KUBE],
      'unknown',
      [
        'error scheduler.profiles[0].name: unsupported scheduler "unknown" (supported: default-scheduler, kai-scheduler)',
        'error scheduler.defaultProfileName: default profile must be one of the configured profiles (default-scheduler), not "unknown"',
      ],
    ],
    [
      'default not in the list',
      [KUBE],
      KAI,
      [
        'error scheduler.defaultProfileName: default profile must be one of the configured profiles (default-scheduler), not "kai-scheduler"',
      ],
    ],
    [
      'an empty name',
      ['', KUBE],
      KUBE,
      ['error scheduler.profiles[0].name: scheduler profile name is required'],
    ],
    ['fine', [KUBE, KAI], KAI, []],
  ])('%s', (_, names, defaultProfileName, expected) => {
    expect(lines(checkProfiles({ profiles: profiles(...names), defaultProfileName }, supported))).toEqual(
      expected,
    );
  });
});

describe('faults of a document', () => {
  test.each([
    [
      'unsupported short form',
      { schedulerName: 'x' },
      ['error schedulerName: unsupported scheduler "x" (supported: default-scheduler, kai-scheduler)'],
    ],
    [
      'white space is no name',
      { schedulerName: ' ' },
      ['error schedulerName: unsupported scheduler " " (supported: default-scheduler, kai-scheduler)'],
    ],
    [
      'short form not among the profiles',
      { schedulerName: KAI, scheduler: { profiles: profiles(KUBE) } },
      [
        'error schedulerName: schedulerName "kai-scheduler" contradicts scheduler.profiles (default-scheduler): list it there, or keep only one of the two',
      ],
    ],
    [
      'short form against the default',
      { schedulerName: KAI, scheduler: { profiles: profiles(KUBE, KAI), defaultProfileName: KUBE } },
      [
        'error schedulerName: schedulerName "kai-scheduler" contradicts scheduler.defaultProfileName "default-scheduler": keep only one of the two',
      ],
    ],
    [
      'faults of profiles beside a short form',
      { schedulerName: KAI, scheduler: { profiles: profiles(KAI, 'y') } },
      [
        'error scheduler.profiles[1].name: unsupported scheduler "y" (supported: default-scheduler, kai-scheduler)',
      ],
    ],
    [
      'values of the wrong type are left to the schema',
      { schedulerName: 5, scheduler: { profiles: [7, {}] } },
      [],
    ],
  ])('%s', (_, document, expected) => {
    expect(lines(resolveSchedulers(document, supported).findings)).toEqual(expected);
  });

  test('the former names are those that the backends have', () => {
    const { names, aliases } = supportedSchedulers();
    expect(Object.keys(aliases)).not.toEqual([]);
    for (const [former, now] of Object.entries(aliases)) {
      const { findings, schedulers } = resolveSchedulers({ schedulerName: former }, names);
      expect(schedulers.defaultProfileName).toBe(now);
      expect(lines(findings)).toEqual([`warning schedulerName: "${former}" is deprecated: write "${now}"`]);
    }
  });

  test('the old name of kai works in every place, with a warning each', () => {
    const old = 'grove-scheduler';
    const hint = '"grove-scheduler" is deprecated: write "kai-scheduler"';
    const long = resolveSchedulers(
      { scheduler: { profiles: profiles(old), defaultProfileName: old } },
      supported,
    );
    expect(long.schedulers.profiles.map(({ name }) => name)).toEqual([KAI, KUBE]);
    expect(long.schedulers.defaultProfileName).toBe(KAI);
    expect(lines(long.findings)).toEqual([
      `warning scheduler.profiles[0].name: ${hint}`,
      `warning scheduler.defaultProfileName: ${hint}`,
    ]);
    const short = resolveSchedulers({ schedulerName: old }, supported);
    expect(short.schedulers.defaultProfileName).toBe(KAI);
    expect(lines(short.findings)).toEqual([`warning schedulerName: ${hint}`]);
    const twice = resolveSchedulers({ scheduler: { profiles: profiles(KAI, old) } }, supported);
    expect(lines(twice.findings)).toEqual([
      `warning scheduler.profiles[1].name: ${hint}`,
      'error scheduler.profiles[1].name: duplicate scheduler profile "kai-scheduler"',
    ]);
  });

  test('an alias is neither advertised nor resolved to what is not there', () => {
    expect(
      lines(resolveSchedulers({ schedulerName: 'x' }, [...supported, 'grove-scheduler']).findings),
    ).toEqual([
      'error schedulerName: unsupported scheduler "x" (supported: default-scheduler, kai-scheduler)',
    ]);
    expect(lines(resolveSchedulers({ schedulerName: 'grove-scheduler' }, [KUBE]).findings)).toEqual([
      'error schedulerName: unsupported scheduler "grove-scheduler" (supported: default-scheduler)',
    ]);
  });
});
