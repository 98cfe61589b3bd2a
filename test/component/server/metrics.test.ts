import { afterEach, describe, expect, test } from '@jest/globals';
import { backendMetricCatalogue } from '../../../src/telemetry/backend-metrics.ts';
import { admissionMetrics } from '../../../src/telemetry/metric-catalogue.ts';
import { gangPod, pod } from '../../support/pods.ts';
import { MUTATE_POD, VALIDATE_POD, golden, goldenText, reviewText } from './bodies.ts';
import { closeAll, start, until, valueOf } from './running.ts';
import { Wire, httpRequest } from './wire.ts';

afterEach(closeAll);

describe('metrics', () => {
  test('every metric of admission is exposed with its type and help, and none beside it', async () => {
    const running = await start();
    await running.alive();
    await running.post('/nope', '');
    await running.post(VALIDATE_POD, reviewText(golden({ object: gangPod() })));
    const own = { ...admissionMetrics, ...backendMetricCatalogue };
    const text = await running.scrape();
    for (const [name, { type, help }] of Object.entries(own)) {
      expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
      // A backend that has done nothing yet has no series.
      if (name in admissionMetrics) expect(text).toMatch(new RegExp(`^${name}(_bucket)?[{ ]`, 'm'));
    }
    const exposed = [...text.matchAll(/^# TYPE ((?:muster|grove)_\S+)/gm)].map((match) => match[1]);
    expect(exposed.toSorted()).toEqual(Object.keys(own).toSorted());
    expect(text).toContain('muster_build_info{version="0.0.0-test",commit="0123abc"} 1');
    for (const name of [
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
      'nodejs_gc_duration_seconds',
    ]) {
      expect(text).toContain(`# TYPE ${name}`);
    }
  });

  test('counts are right after known traffic', async () => {
    const running = await start();
    for (let call = 0; call < 3; call += 1) await running.alive();
    for (let call = 0; call < 2; call += 1)
      await running.post(MUTATE_POD, reviewText(golden({ object: pod() })));
    await running.post(VALIDATE_POD, reviewText(golden({ object: gangPod() })));
    for (let call = 0; call < 4; call += 1) await running.post(MUTATE_POD, '{}');
    await running.post('/nope', '');
    await running.call(httpRequest(MUTATE_POD, '', { method: 'GET' }));
    await running.call('FOO bar\r\n\r\n');

    const text = await running.scrape();
    const requests = (path: string, operation: string, outcome: string): number =>
      valueOf(
        text,
        `muster_admission_requests_total{path="${path}",operation="${operation}",outcome="${outcome}"}`,
      );
    expect({
      patched: requests(MUTATE_POD, 'CREATE', 'patched'),
      allowed: requests(MUTATE_POD, 'CREATE', 'allowed'),
      denied: requests(VALIDATE_POD, 'CREATE', 'denied'),
      failed: requests(MUTATE_POD, 'unknown', 'failed'),
      none: requests(VALIDATE_POD, 'CREATE', 'allowed'),
    }).toEqual({ patched: 3, allowed: 2, denied: 1, failed: 4, none: 0 });
    const failures = [400, 404, 405].map((code) =>
      valueOf(text, `muster_http_failures_total{code="${code}"}`),
    );
    expect(failures).toEqual([5, 1, 1]);
    const labels = `path="${MUTATE_POD}",operation="CREATE",outcome="patched"`;
    expect(valueOf(text, `muster_admission_duration_seconds_count{${labels}}`)).toBe(3);
    const sum = valueOf(text, `muster_admission_duration_seconds_sum{${labels}}`);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThan(5); // seconds, not milliseconds
    expect(valueOf(text, 'muster_tls_not_after_seconds')).toBeCloseTo(Date.now() / 1000 + 86_400, -3);
  });

  test('labels come from fixed sets, whatever is asked for', async () => {
    const running = await start();
    for (let call = 0; call < 20; call += 1) {
      await running.post(`/path-${call}`, '');
      await running.post(`${MUTATE_POD}?x=${call}`, goldenText.replace('"CREATE"', `"OTHER${call}"`));
    }
    const text = await running.scrape();
    expect(text).not.toMatch(/path-\d|OTHER\d|\?x=/);
    expect(text.split('\n').filter((line) => line.startsWith('muster_')).length).toBeLessThan(120);
  });

  test('the gauges go back to 0 after clients that leave in the middle', async () => {
    const running = await start();
    const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.open(running.port)));
    for (const wire of wires) wire.send(httpRequest(MUTATE_POD, goldenText).subarray(0, -5));
    const gauges = async (): Promise<number[]> => {
      const text = await running.scrape();
      return ['muster_admission_in_flight', 'muster_connections'].map((name) => valueOf(text, name));
    };
    await until('all are in flight', async () => String(await gauges()) === '10,10');
    for (const wire of wires) wire.destroy();
    await until('all are gone', async () => String(await gauges()) === '0,0');
    expect(await running.metric('muster_admission_in_flight_bytes')).toBe(0);
  });
});
