import { expect, test } from '@jest/globals';
import { deadlineOf } from '../../../src/server/exchange.ts';

test.each([
  ['/mutate', 9_750],
  ['/mutate?timeout=10s', 9_750],
  ['/mutate?timeout=1s', 750],
  ['/mutate?a=b&timeout=5s', 4_750],
  ['/mutate?timeout=5s&a=b', 4_750],
  ['/mutate?timeout=1m30s', 30_000],
  ['/mutate?timeout=1.5s', 1_250],
  ['/mutate?timeout=500ms', 250],
  ['/mutate?timeout=100ms', 50],
  ['/mutate?timeout=1ms', 50],
  ['/mutate?timeout=9999h', 30_000],
  ['/mutate?timeout=banana', 9_750],
  ['/mutate?timeout=', 9_750],
  ['/mutate?timeout=0s', 9_750],
  ['/mutate?timeout=-5s', 9_750],
  ['/mutate?timeout=5', 9_750],
  ['/mutate?timeout=5s5', 9_750],
  ['/mutate?xtimeout=5s', 9_750],
  [`/mutate?timeout=${'9'.repeat(100)}s`, 9_750],
])('%s: %i ms', (url, ms) => expect(deadlineOf(url)).toBe(ms));
