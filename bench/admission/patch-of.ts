import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { PATH_MUTATE_POD } from '../../src/api/names.ts';
import type { PatchOperation } from './contest.ts';
import { reviewOf, type Body } from './reviews.ts';
import type { RunningServer } from './servers.ts';

/** The patch that a server gives. @throws where it gives none */
export async function patchOf(
  { port }: Pick<RunningServer, 'port'>,
  caFile: string,
  body: Body,
): Promise<readonly PatchOperation[]> {
  const text = await new Promise<string>((resolve, reject) => {
    const asked = request(
      `https://localhost:${port}${PATH_MUTATE_POD}`,
      {
        method: 'POST',
        ca: readFileSync(caFile),
        headers: { 'content-type': 'application/json' },
        agent: false,
      },
      (answer) => {
        let came = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (came += chunk));
        answer.on('end', () => resolve(came));
      },
    );
    asked.on('error', reject);
    asked.end(JSON.stringify(reviewOf(body)));
  });
  const { response } = JSON.parse(text) as { response?: { patch?: string } };
  if (response?.patch === undefined) throw new Error(`there is no patch: ${text.slice(0, 500)}`);
  return JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8')) as readonly PatchOperation[];
}
