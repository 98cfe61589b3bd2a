import { describe, expect, test } from '@jest/globals';
import { checkConfiguration, loadConfiguration } from '../../../src/config/load.ts';

const supportedSchedulers = ['default-scheduler', 'kai-scheduler'];
const HASH = `sha256-${'A'.repeat(43)}=`;

const documentWith = (profile: object): string =>
  JSON.stringify({
    apiVersion: 'operator.config.grove.io/v1alpha1',
    kind: 'OperatorConfiguration',
    scheduler: { profiles: [profile] },
  });
const faultsOf = (profile: object): string[] =>
  checkConfiguration(documentWith(profile), { supportedSchedulers }).map(
    ({ path, message }) => `${path}: ${message}`,
  );

describe('a profile that brings its backend along', () => {
  test('has a name that nobody has to know beforehand, and keeps module and integrity', () => {
    const profile = { name: 'line', module: './line.js', integrity: HASH };
    const { configuration } = loadConfiguration({
      text: JSON.stringify({
        ...(JSON.parse(documentWith(profile)) as object),
        schedulerName: 'line',
      }),
      env: {},
      flags: {},
      supportedSchedulers,
    });
    expect(configuration.schedulers).toEqual({
      defaultProfileName: 'line',
      profiles: [
        { ...profile, config: {} },
        { name: 'default-scheduler', config: {} },
      ],
    });
  });

  test.each([
    [
      'without a module the name is unknown',
      { name: 'line' },
      'scheduler.profiles[0].name: unsupported scheduler "line" (supported: default-scheduler, kai-scheduler)',
    ],
    [
      'a built-in name',
      { name: 'kai-scheduler', module: 'x' },
      'scheduler.profiles[0].module: "kai-scheduler" comes with Muster: leave out module, or give your backend a name of its own',
    ],
    [
      'a name that is no label value',
      { name: 'my line', module: 'x' },
      'scheduler.profiles[0].name: must be a label value, since gangs name their scheduler in a label: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends, not "my line"',
    ],
    [
      'integrity of nothing',
      { name: 'kai-scheduler', integrity: HASH },
      'scheduler.profiles[0].integrity: is the hash of a module: add module, or leave it out',
    ],
    [
      'integrity in hexadecimal',
      { name: 'line', module: 'x', integrity: 'sha256-abcdef' },
      'scheduler.profiles[0].integrity: must be "sha512-" or "sha256-" and the hash of the file in base64',
    ],
    ['an empty module', { name: 'line', module: '' }, 'scheduler.profiles[0].module: must not be empty'],
  ])('%s', (_what, profile, says) => {
    expect(faultsOf(profile)).toEqual([says]);
  });
});

describe('fleet.assigner.plugins', () => {
  const faults = (...plugins: object[]): string[] =>
    checkConfiguration(
      JSON.stringify({
        apiVersion: 'operator.config.grove.io/v1alpha1',
        kind: 'OperatorConfiguration',
        fleet: { assigner: { plugins } },
      }),
      { supportedSchedulers },
    ).map(({ path, message }) => `${path}: ${message}`);
  const AT = 'fleet.assigner.plugins[0]';

  test('an entry names its module, perhaps with hash and config', () => {
    expect(faults({ name: 'prices', module: './prices.js' })).toEqual([]);
    expect(faults({ name: 'prices', module: 'prices', integrity: HASH, config: { a: 1 } })).toEqual([]);
  });

  test.each([
    [[{ name: 'prices' }], `${AT}.module: `],
    [[{ module: './a.js' }], `${AT}.name: `],
    [[{ name: 'my prices', module: './a.js' }], `${AT}.name: must be at most 63 letters`],
    [
      [{ name: 'gang', module: './a.js' }],
      `${AT}.name: "gang" comes with Muster: give your plugin a name of its own`,
    ],
    [[{ name: 'a', module: './a.js', integrity: 'sha1-x' }], `${AT}.integrity: must be "sha512-"`],
    [
      [
        { name: 'a', module: './a.js' },
        { name: 'a', module: './b.js' },
      ],
      'fleet.assigner.plugins[1].name: duplicate plugin',
    ],
    [
      [
        { name: 'a', module: './a.js' },
        { name: 'b', module: './a.js' },
      ],
      'fleet.assigner.plugins[1].module: duplicate module: it has one name, that of one plugin',
    ],
  ])('%j', (plugins, says) => {
    expect(faults(...plugins)).toEqual([expect.stringContaining(says)]);
  });
});

describe('hpc.preparations', () => {
  const faults = (...preparations: object[]): string[] =>
    checkConfiguration(
      JSON.stringify({
        apiVersion: 'operator.config.grove.io/v1alpha1',
        kind: 'OperatorConfiguration',
        hpc: { enabled: true, preparations },
      }),
      { supportedSchedulers },
    ).map(({ path, message }) => `${path}: ${message}`);

  test('an entry names its module, perhaps with hash and config, where an empty value is one', () => {
    expect(faults({ name: 'slurm', module: './slurm.js' })).toEqual([]);
    expect(faults({ name: 'slurm', module: 'slurm', integrity: HASH, config: { a: null } })).toEqual([]);
  });

  test.each([
    [[{ name: 'slurm' }], 'hpc.preparations[0].module: '],
    [
      [{ name: 'Slurm', module: './a.js' }],
      'hpc.preparations[0].name: must be at most 63 lower-case letters',
    ],
    [
      [{ name: 'flux', module: './a.js' }],
      'hpc.preparations[0].name: "flux" comes with Muster: give your preparation a name of its own',
    ],
    [
      [
        { name: 'a', module: './a.js' },
        { name: 'a', module: './b.js' },
      ],
      'hpc.preparations[1].name: duplicate preparation: an HPCPolicy names one of them',
    ],
  ])('%j', (preparations, says) => {
    expect(faults(...preparations)).toEqual([expect.stringContaining(says)]);
  });
});
