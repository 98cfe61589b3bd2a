import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { leftOver, madeChart, writeChart } from '../../../charts/make.ts';
import { switches } from '../../../charts/sources.ts';
import { describedSwitches } from '../../../charts/component-values.ts';

const chart = join(import.meta.dirname, '../../../charts/muster');

interface Versions {
  readonly version: string;
  readonly appVersion?: string;
}

describe('the chart', () => {
  test('is made from manifests/ and the schema of the values; UPDATE_DOCS=1 makes it anew', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeChart();
    for (const [name, text] of madeChart()) {
      expect([name, readFileSync(join(chart, name), 'utf8')]).toEqual([name, text]);
    }
    expect(leftOver()).toEqual([]);
  });

  test('has the version of the package', () => {
    const { version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as Versions;
    const { version: ours } = JSON.parse(readFileSync(join(chart, '../../package.json'), 'utf8')) as Versions;
    expect({ version, appVersion }).toEqual({ version: ours, appVersion: ours });
  });

  test('says of every component what it is', () => {
    expect(switches().toSorted()).toEqual(describedSwitches().toSorted());
  });
});
