import { describe, expect, jest, test } from '@jest/globals';
import { onAbort } from '../../../../src/kube/client/pending-call.ts';

describe('many wait for one signal', () => {
  test('all are called once, but for those that have ended', () => {
    const controller = new AbortController();
    const calls: string[] = [];
    onAbort(controller.signal, () => calls.push('first'));
    const end = onAbort(controller.signal, () => calls.push('ended'));
    onAbort(controller.signal, () => calls.push('last'));
    end();
    controller.abort();
    expect(calls).toEqual(['first', 'last']);
  });

  test('with one listener of the signal', () => {
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, 'addEventListener');
    for (let at = 0; at < 300; at += 1) onAbort(signal, () => undefined)();
    expect(added).toHaveBeenCalledTimes(1);
  });
});
