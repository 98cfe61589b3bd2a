import { expect, test } from '@jest/globals';
import { pluginLog, preparationLog } from '../../../src/cli/serve/serve-loop.ts';
import type { Logger } from '../../../src/telemetry/log.ts';

test('the log says what modules write, that they end, and what is to be done about them', () => {
  const lines: unknown[] = [];
  const push = (...line: unknown[]): void => void lines.push(line);
  const log = { info: push, warn: push, error: push } as unknown as Logger;
  preparationLog(log).wrote('mine', 'a\u0007b');
  preparationLog(log).ended('mine', 'it is gone', 1_000);
  preparationLog(log).noticed?.('mine', 'old');
  pluginLog(log).noticed?.('mine', 'old');
  expect(lines).toEqual([
    [{ preparation: 'mine', text: expect.stringMatching(/^a.*b$/) }, 'a preparation module wrote'],
    [
      { preparation: 'mine', reason: 'it is gone', againInMs: 1_000 },
      'a preparation module has ended, and its gangs wait',
    ],
    [{ preparation: 'mine' }, 'old'],
    [{ plugin: 'mine' }, 'old'],
  ]);
});
