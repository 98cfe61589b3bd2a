/** `muster doctor` on a real API server: nothing to say of a whole installation, and of a broken one what mends it. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { manifestsIn } from '../support/manifests.ts';
import type { Serving } from '../support/serving.ts';
import type { DoctorReport } from '../../src/cli/doctor/render.ts';
import { run } from '../../src/cli/run.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { kaiPodGroups, kaiTopologies } from './support/crds/kai.ts';
import { HAS_POD_GROUPS } from './support/native-gangs.ts';
import { certificateDirectory, NAMESPACE, register } from './support/registered-muster.ts';
import { shippedPolicies } from './support/shipped-policies.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WEBHOOKS = '/apis/admissionregistration.k8s.io/v1';
const POLICY = `${WEBHOOKS}/validatingadmissionpolicies/muster-gang-pod-gate`;
const ROLE = '/apis/rbac.authorization.k8s.io/v1/clusterroles/muster';
const KAI_POD_GROUPS = kaiPodGroups('0.17');

clusterSuite('muster doctor', () => {
  let plane: ControlPlane;
  let muster: Serving;
  let on: OnMuster;

  const doctor = async (
    kubeconfig = plane.kubeconfig,
    ...args: readonly string[]
  ): Promise<{ code: number; out: string; err: string }> => {
    const { io, written } = fakeIo();
    const config = ['--config', join(muster.directory, 'config.yaml'), '--try-in', NAMESPACE];
    const code = await run(['doctor', '--kubeconfig', kubeconfig, ...config, ...args], {
      ...io,
      now: () => new Date(),
    });
    return { code, ...written };
  };
  const report = async (): Promise<DoctorReport & { code: number }> => {
    const { code, out, err } = await doctor(plane.kubeconfig, '-o', 'json');
    if (out === '') throw new Error(err);
    return { code, ...(JSON.parse(out) as DoctorReport) };
  };
  const problems = async (): Promise<{ found: string; fix: string }[]> => {
    const { findings, code, problems: count } = await report();
    const told = findings.filter(({ severity }) => severity === 'problem');
    expect([code, count]).toEqual([told.length > 0 ? 1 : 0, told.length]);
    return told.map(({ group, check, found, fix }) => ({
      found: `${group}/${check}: ${found}`,
      fix: fix ?? '',
    }));
  };
  const toBe = (found: string, fix: string) => ({
    found: expect.stringContaining(found),
    fix: expect.stringContaining(fix),
  });
  const untilProblems = (wanted: readonly object[]): Promise<boolean> =>
    until('these are the problems', async () => {
      expect(await problems()).toEqual(wanted);
      return true;
    });
  const whole = () => until('there is no problem left', async () => (await problems()).length === 0);
  const apply = async (objects: readonly object[]): Promise<void> => {
    const stdin = objects.map((object) => JSON.stringify(object)).join('\n---\n');
    expect(await plane.kubectl(['apply', '-f', '-'], { stdin })).toMatchObject({ code: 0 });
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none' });
    ({ plane } = on);
    for (const definition of [KAI_POD_GROUPS, kaiTopologies]) await plane.client.ok('POST', CRDS, definition);
    muster = await on.start();
    await register(plane, muster.port, on.certificates.ca);
    await apply(shippedPolicies());
    await whole();
    // Shown a moment after the loop leads; until then that is a warning.
    await until('the backends are shown', async () =>
      (await report()).findings.some(({ check, severity }) => check === 'published' && severity === 'ok'),
    );
  }, 240_000);
  afterAll(() => on?.close(), 60_000);

  test('a whole installation has no problem, and what cannot be seen is not called fine', async () => {
    const { code, findings, kubernetes, warnings } = await report();
    const by = (severity: string) =>
      findings.filter((one) => one.severity === severity).map(({ group, check }) => `${group}/${check}`);
    expect([code, kubernetes, warnings, by('problem'), by('warning')]).toEqual([
      0,
      plane.version,
      by('warning').length,
      [],
      plane.version.startsWith('v1.35') ? expect.arrayContaining(['cluster/version']) : by('warning'),
    ]);
    expect(by('ok')).toEqual(
      expect.arrayContaining([
        'definitions/podgangs.scheduler.grove.io',
        'definitions/schedulerbackends.muster.dev',
        'rights/account',
        'webhooks/mutating',
        'webhooks/validating',
        'certificate/dates',
        'certificate/names',
        'certificate/ca',
        'admission/answers',
        'admission/gate',
        'policies/validating',
        'policies/accounts',
        'program/leader',
        'backends/kai-scheduler',
        'backends/published',
        'gangs/waiting',
      ]),
    );
    expect(by('not-checked')).toEqual(
      expect.arrayContaining(['program/deployment', 'backends/kai-scheduler runs']),
    );
    const { out } = await doctor();
    expect(out).toMatch(/\n0 problems, \d+ warnings?, \d+ not checked\n$/);
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  test('an account that the configuration trusts and a policy does not', async () => {
    const policy = await plane.client.ok<{ spec: { variables: { name: string; expression: string }[] } }>(
      'GET',
      POLICY,
    );
    const variables = policy.spec.variables.map((one) =>
      one.name === 'trusted' ? { ...one, expression: `['system:serviceaccount:x:y']` } : one,
    );
    await plane.client.ok('PATCH', POLICY, { spec: { variables } });
    expect(await problems()).toEqual([
      toBe(
        `policies/accounts: muster-gang-pod-gate refuses ${MUSTER_USER}, which the configuration trusts`,
        'kubectl apply -k manifests/policies',
      ),
    ]);
    await plane.client.ok('PATCH', POLICY, { spec: { variables: policy.spec.variables } });
    await whole();
  });

  test('a right that Muster’s account lost', async () => {
    const { rules } = await plane.client.ok<{ rules: { resources: string[] }[] }>('GET', ROLE);
    const fewer = rules.filter(({ resources }) => !resources.includes('podgangs/status'));
    await plane.client.ok('PATCH', ROLE, { rules: fewer });
    const lost = toBe(
      `rights/account: ${MUSTER_USER} may not patch podgangs/status.scheduler.grove.io`,
      'kubectl apply -k manifests/base',
    );
    // The API server's authorizer hears of it by a watch.
    await untilProblems([lost]);
    await plane.client.ok('PATCH', ROLE, { rules });
    await whole();
  });

  test('a caBundle of another CA', async () => {
    const other = await certificateDirectory();
    const path = `${WEBHOOKS}/validatingwebhookconfigurations/muster`;
    const put = (ca: string) =>
      plane.client.ok('PATCH', path, [
        {
          op: 'replace',
          path: '/webhooks/0/clientConfig/caBundle',
          value: Buffer.from(ca).toString('base64'),
        },
      ]);
    await put(other.ca);
    expect((await problems())[0]).toEqual(
      toBe(
        'certificate/ca: the caBundle of pods.muster.dev in ValidatingWebhookConfiguration muster does not lead to the certificate that Muster shows',
        'put the CA of the serving certificate into caBundle',
      ),
    );
    await put(on.certificates.ca);
    await rm(other.path, { recursive: true });
    await whole();
  });

  test('the definition of a backend’s objects is gone', async () => {
    await plane.client.ok('DELETE', `${CRDS}/${KAI_POD_GROUPS.metadata.name}`);
    const isGone = toBe(
      'backends/kai-scheduler: not ready, its gangs wait: the cluster does not serve PodGroup scheduling.run.ai/v2alpha2',
      'take kai-scheduler out of scheduler.profiles',
    );
    // It goes step by step, and so does what is said of it.
    await untilProblems([isGone]);
    await plane.client.ok('POST', CRDS, KAI_POD_GROUPS);
    await whole();
  });

  test('nobody may look: what is not readable is not checked', async () => {
    const { code, out } = await doctor(await plane.kubeconfigFor('nobody', ['nobodies']), '-o', 'json');
    const { findings, problems: count } = JSON.parse(out) as DoctorReport;
    expect([code, count]).toEqual([0, 0]);
    const fine = findings.filter(({ severity }) => severity === 'ok').map(({ group }) => group);
    // Before 1.36 the version is warned of, and the backend tries nothing by a dry run.
    expect(fine).toEqual(
      HAS_POD_GROUPS ? ['cluster', 'cluster', 'program'] : ['cluster', 'program', 'backends'],
    );
    expect(findings.find(({ check }) => check === 'leader')?.found).toBe(
      'may not get leases muster-system/muster-leader-election',
    );
  });

  test('Muster’s own account may ask what it may do itself', async () => {
    const { out } = await doctor(await plane.kubeconfigFor(MUSTER_USER), '-o', 'json');
    const { findings } = JSON.parse(out) as DoctorReport;
    expect(findings.find(({ group }) => group === 'rights')?.found).toMatch(
      / has the \d+ rights that it needs$/,
    );
  });

  test('a webhook configuration is gone', async () => {
    await plane.client.ok('DELETE', `${WEBHOOKS}/mutatingwebhookconfigurations/muster`);
    expect(await problems()).toEqual([
      toBe(
        'webhooks/mutating: there is no MutatingWebhookConfiguration muster: its objects do not come to Muster',
        'apply the manifests of this version again',
      ),
    ]);
  });

  test('a definition is gone', async () => {
    await plane.client.ok('DELETE', `${CRDS}/schedulerbackends.muster.dev`);
    const gone = toBe(
      'definitions/schedulerbackends.muster.dev: the cluster does not know schedulerbackends.muster.dev',
      'kubectl apply -k manifests/crds',
    );
    await until('it is gone', async () => (await problems())[0]?.found.startsWith('definitions/') === true);
    expect((await problems())[0]).toEqual(gone);
    await apply(await manifestsIn('crds'));
  });

  test('Muster does not answer', async () => {
    await muster.kill();
    const told = await problems();
    expect(told).toContainEqual(
      toBe('admission/answers: the API server gets no answer from Muster: ', 'docs/operations.md'),
    );
    const { findings } = await report();
    const certificate = findings.filter(({ group }) => group === 'certificate');
    expect(certificate.map(({ severity, found }) => [severity, found])).toEqual([
      ['not-checked', expect.stringContaining('ECONNREFUSED')],
    ]);
  });
});
