import childProcess from 'node:child_process';
import crypto from 'node:crypto';
import dns from 'node:dns';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

type Members = Record<string, unknown>;

/**
 * Functions that a pure function may not call: whole modules of I/O, and single functions that return another value each
 * time.
 */
const FORBIDDEN: readonly (readonly [name: string, owner: object, members?: readonly string[]])[] = [
  ['', globalThis, ['fetch', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']],
  ['Math.', Math, ['random']],
  ['performance.', performance, ['now']],
  ['process.', process, ['nextTick', 'hrtime', 'uptime', 'cpuUsage', 'memoryUsage']],
  ['crypto.', globalThis.crypto, ['randomUUID', 'getRandomValues']],
  ['crypto.', crypto, ['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync']],
  ['fs.', fs],
  ['fs.promises.', fs.promises],
  ['child_process.', childProcess],
  ['dns.', dns],
  ['net.', net, ['connect', 'createConnection', 'createServer']],
  ['http.', http, ['request', 'get', 'createServer']],
  ['https.', https, ['request', 'get', 'createServer']],
];

/**
 * Runs `work` while clock, randomness, timers and I/O throw. Only synchronous calls are seen, and only of functions that are
 * looked up during the run: a function that was stored in a variable before is not noticed.
 * @returns names of the functions that were called, sorted, even where `work` caught the error
 */
export function reachedOutside(work: () => unknown): string[] {
  const tried = new Set<string>();
  const restore: (() => void)[] = [];
  const replace = (owner: object, key: string, value: unknown): void => {
    const before = Object.getOwnPropertyDescriptor(owner, key);
    try {
      Object.defineProperty(owner, key, { value, configurable: true, writable: true, enumerable: true });
    } catch {
      return;
    }
    restore.push(() => {
      if (before === undefined) Reflect.deleteProperty(owner, key);
      else Object.defineProperty(owner, key, before);
    });
  };
  const forbid = (name: string) => (): never => {
    tried.add(name);
    throw new Error(`${name} is not for here`);
  };
  for (const [name, owner, members = functionsOf(owner)] of FORBIDDEN) {
    for (const key of members) replace(owner, key, forbid(`${name}${key}`));
  }
  replace(globalThis, 'Date', timelessDate(forbid));
  syncBuiltinESMExports();
  try {
    work();
  } catch {
    // Errors of `work` are checked by another rule.
  } finally {
    for (const undo of restore.reverse()) undo();
    syncBuiltinESMExports();
  }
  return [...tried].sort();
}

const functionsOf = (owner: object): string[] =>
  Object.keys(owner).filter((key) => !/^[A-Z]/.test(key) && typeof (owner as Members)[key] === 'function');

/** Dates with arguments work; only the current time throws. */
function timelessDate(forbid: (name: string) => () => never): DateConstructor {
  return new Proxy(Date, {
    apply: forbid('Date'),
    construct: (target, given: readonly (string | number)[]) =>
      given.length === 0 ? forbid('new Date')() : new target(...(given as [string])),
    get: (target, key, receiver) =>
      key === 'now' ? forbid('Date.now') : (Reflect.get(target, key, receiver) as unknown),
  });
}
