/** A real Prometheus on loopback, for as long as a recording takes. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';

export interface Target {
  readonly port: number;
  readonly pod: string;
}

export interface Line {
  readonly metric: Readonly<Record<string, string>>;
  /** Times and values. */
  readonly values: readonly (readonly [number, string])[];
}

export interface Prometheus {
  setTargets(targets: readonly Target[]): Promise<void>;
  range(expression: string, from: number, to: number, step: number): Promise<readonly Line[]>;
  stop(): Promise<void>;
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Line[] };
}

/**
 * @param folder for its data, and removed with it by whoever calls
 * @throws Error where the program is not there or does not get ready
 */
export async function startPrometheus(
  folder: string,
  port: number,
  rules: string,
  scrapeSeconds: number,
): Promise<Prometheus> {
  const file = join(folder, 'targets.json');
  const url = `http://127.0.0.1:${port}`;
  const interval = `${scrapeSeconds}s`;
  const setTargets = (targets: readonly Target[]): Promise<void> =>
    writeFile(
      file,
      JSON.stringify(
        targets.map(({ port: of, pod }) => ({
          targets: [`127.0.0.1:${of}`],
          labels: { namespace: 'muster-system', pod },
        })),
      ),
    );
  await setTargets([]);
  const config = join(folder, 'prometheus.yml');
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
      rule_files: [rules],
      scrape_configs: [{ job_name: 'muster', file_sd_configs: [{ files: [file], refresh_interval: '1s' }] }],
    }),
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = `${said}${text}`.slice(-4_000)));
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', (code) => resolve(`it ended with ${code}: ${said}`));
  });
  const ready = async (): Promise<string> => {
    for (let tries = 0; tries < 300; tries += 1) {
      const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
      if (answer?.ok === true) return '';
      await delay(100);
    }
    return 'it was not ready within 30 seconds';
  };
  const fault = await Promise.race([ended, ready()]);
  if (fault !== '') {
    child.kill();
    throw new Error(`Prometheus does not run: ${fault}`);
  }
  return {
    setTargets,
    range: async (expression, from, to, step) => {
      const body = new URLSearchParams({
        query: expression,
        start: `${from}`,
        end: `${to}`,
        step: `${step}`,
      });
      const answer = (await (
        await fetch(`${url}/api/v1/query_range`, { method: 'POST', body })
      ).json()) as Answer;
      if (answer.status !== 'success') throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result;
    },
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
