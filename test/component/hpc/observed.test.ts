/** The double of Flux does what the real one was seen to do, where it does anything. */
import { afterAll, expect, test } from '@jest/globals';
import { OBSERVED } from '../../support/observed-flux.ts';
import { Brokers, removeBrokers, RUN } from './brokers.ts';

afterAll(removeBrokers);

const begun = 'echo begun; until [ -e "$FAKE_GANG/go" ] || ! [ -d "$FAKE_GANG" ]; do /bin/sleep 0.02; done;';
const program = (text: string): string[] => [...RUN, 'bash', '-c', text];

/** By name, as the table has it. */
const SCENES: Readonly<Record<string, (flux: Brokers) => Promise<void>>> = {
  'the program ends': async (flux) => {
    const follower = flux.broker('b', ['start']);
    await follower.says('no lead');
    const lead = flux.broker('a', [
      'start',
      'flux',
      'run',
      '-N',
      '2',
      ...RUN.slice(3),
      'bash',
      '-c',
      'exit 3',
    ]);
    expect([await lead.code, await follower.code]).toEqual([3, 0]);
  },
  'TERM to the lead': async (flux) => {
    const lead = flux.broker('a', ['start', 'flux', ...program(`trap 'exit 7' TERM; ${begun}`)]);
    await lead.says('begun');
    lead.kill('SIGTERM');
    expect(await lead.code).toBe(129);
  },
  'TERM to the program': async (flux) => {
    const lead = flux.broker('a', ['start', 'flux', ...program(`trap 'exit 9' TERM; ${begun}`)]);
    await lead.says('begun');
    expect(await flux.call('job', 'killall', '-f', '-s', 'TERM')).toEqual([
      0,
      'flux-job: Terminated 1 jobs (0 errors)\n',
    ]);
    expect(await lead.code).toBe(9);
  },
  'no lead': async (flux) => {
    const follower = flux.broker('b', ['start']);
    await follower.says(/(no lead\n){20}/);
    follower.kill('SIGTERM');
    expect(await follower.code).toBe(1);
  },
  'a lead that is gone': async (flux) => {
    const follower = flux.broker('b', ['start']);
    const lead = flux.broker('a', ['start', 'flux', ...program(begun)]);
    await follower.says('joined');
    lead.kill('SIGKILL');
    await follower.says(/joined\n(no lead\n){5}/);
    follower.kill('SIGTERM');
    await follower.says(/joined\n(no lead\n){20}/);
    follower.kill('SIGKILL');
    flux.go();
    expect([await lead.code, await follower.code]).toEqual([-1, -1]);
  },
  'another lead': async (flux) => {
    const follower = flux.broker('b', ['start']);
    const first = flux.broker('a', ['start', 'flux', ...program(begun)]);
    await follower.says('joined');
    first.kill('SIGKILL');
    const next = flux.broker('a', ['start', 'flux', ...program(`${begun} exit 3`)]);
    expect(await follower.code).toBe(1);
    const again = flux.broker('b', ['start']);
    await again.says('joined');
    flux.go();
    expect([await next.code, await again.code, await first.code]).toEqual([3, 0, -1]);
  },
  'no program': async (flux) => {
    const without = flux.broker(undefined, ['broker']);
    expect(await without.code).toBe(1);
    await without.says('stdin is not a tty');
    const stays = flux.broker(undefined, ['broker', '-Sbroker.rc2_none=1']);
    await stays.says('broker is up');
    expect(await flux.call(...program('echo works'))).toEqual([0, 'works\n']);
    stays.kill('SIGTERM');
    expect(await stays.code).toBe(0);
  },
  'rc1.d': async (flux) => {
    for (const [name, mode] of [
      ['runs', 0o755],
      ['stays', 0o644],
    ] as const)
      flux.write(`extra/rc1.d/${name}`, `#!/bin/bash\necho ${name} on "$FAKE_HOST"\n`, mode);
    const env = { FLUX_RC_EXTRA: flux.path('extra') };
    const follower = flux.broker('b', ['start'], env);
    const lead = flux.broker('a', ['start', 'flux', ...program(begun)], env);
    await follower.says('joined');
    await lead.says('begun');
    flux.go();
    for (const one of [lead, follower]) {
      await one.code;
      expect(one.out).toMatch(/^(no lead\n)*runs on [ab]\n/);
      expect(one.out).not.toContain('stays');
    }
    const elsewhere = flux.broker('c', ['start', 'flux', ...program('true')], {
      FLUX_RC_EXTRA: flux.path('extra/rc1.d'),
    });
    expect([await elsewhere.code, elsewhere.out]).toEqual([0, '']);
  },
  'a follower is killed': async (flux) => {
    const lead = flux.broker('a', ['start', 'flux', ...program(`${begun} exit 5`)]);
    const killed = flux.broker('b', ['start']);
    await killed.says('joined');
    killed.kill('SIGKILL');
    await killed.code;
    const again = flux.broker('b', ['start']);
    await again.says('joined');
    flux.go();
    expect([await lead.code, await again.code]).toEqual([5, 0]);
  },
  'TERM to a follower': async (flux) => {
    const lead = flux.broker('a', ['start', 'flux', ...program(begun)]);
    const follower = flux.broker('b', ['start']);
    await follower.says('joined');
    follower.kill('SIGTERM');
    expect(await follower.code).toBe(0);
    flux.go();
    expect(await lead.code).toBe(0);
  },
  'the plugin of PMIx': async (flux) => {
    flux.write('view/pmix.so', '', 0o644);
    flux.write('rc/pmix.lua', `plugin.load { file = "${flux.path('view/pmix.so')}" }\n`, 0o644);
    const words = [...RUN, '-o', 'pmi=pmix', 'bash', '-c', 'echo "rank $PMIX_RANK"'];
    expect(await flux.call(...words)).toEqual([0, 'rank \n']);
    const loaded = flux.broker('a', ['start', 'flux', ...words], { FLUX_SHELL_RC_PATH: flux.path('rc') });
    expect([await loaded.code, loaded.out]).toEqual([0, 'rank 0\n']);
  },
};

test('each scene is what a row of the table names, and each row has its own', () => {
  const named = OBSERVED.flatMap(({ double }) => ('scene' in double ? [double.scene] : []));
  expect(named.sort()).toEqual(Object.keys(SCENES).sort());
});

test.each(
  OBSERVED.filter(({ double }) => !('beyond' in double)).map(({ when, double }) => [when, double] as const),
)('%s', async (_when, double) => {
  const flux = new Brokers();
  if ('scene' in double) await SCENES[double.scene]?.(flux);
  if (!('argv' in double)) return;
  const [code, said] = await flux.call(...double.argv);
  expect(code).toBe(double.code);
  expect(said).toContain(double.says);
});
