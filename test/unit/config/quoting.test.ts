import { expect, test } from '@jest/globals';
import { checkConfiguration } from '../../../src/config/load.ts';

const supportedSchedulers = ['default-scheduler', 'kai-scheduler', 'volcano'];
const LONG = 'u'.repeat(10_000);
const CUT = `${'u'.repeat(79)}…`;
const CUT_LIST = `${'u'.repeat(255)}…`;

const messagesOf = (text: string): string[] =>
  checkConfiguration(
    `apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n${text}\n`,
    {
      supportedSchedulers,
      actsFor: ['volcano'],
      workloads: [{ short: 'job', group: 'batch', kind: 'Job', controllers: ['batch/Job'] }],
    },
  ).map(({ message }) => message);

test.each<[string, string]>([
  [`logLevel: ${LONG}`, `unsupported value "${CUT}" (supported: debug, info, warn, error)`],
  [`logDecisionsPerSecond: ${LONG}`, `must be a number, not the string "${CUT}"`],
  [`? ${LONG}\n: 1`, `unknown key "${CUT}" (this version of Muster has no such setting; another one may)`],
  [`featureGates: { ${LONG}: true, ${LONG}: true }`, `duplicate key "${CUT}"`],
  [`logLevel: *${LONG}`, `not YAML: alias *${CUT} names no anchor`],
  [
    `schedulerName: ${LONG}`,
    `unsupported scheduler "${CUT}" (supported: default-scheduler, kai-scheduler, volcano)`,
  ],
  [
    `scheduler: { profiles: [{ name: ${LONG} }] }`,
    `unsupported scheduler "${CUT}" (supported: default-scheduler, kai-scheduler, volcano)`,
  ],
  [
    `scheduler: { profiles: [{ name: ${LONG}, module: ./a.js }, { name: ${LONG}, module: ./b.js }] }`,
    `duplicate scheduler profile "${CUT}"`,
  ],
  [
    `scheduler: { profiles: [{ name: ${LONG}, module: ./a.js }] }`,
    `must be a label value, since gangs name their scheduler in a label: at most 63 letters, digits, "-", "_" or ".", with a letter or digit at both ends, not "${CUT}"`,
  ],
  [
    `scheduler: { profiles: [{ name: ${LONG}, module: ./a.js }], defaultProfileName: x }`,
    `default profile must be one of the configured profiles (${CUT_LIST}), not "x"`,
  ],
  [
    `scheduler: { profiles: [{ name: volcano }], defaultProfileName: ${LONG} }`,
    `default profile must be one of the configured profiles (volcano, default-scheduler), not "${CUT}"`,
  ],
  [
    `scheduler: { defaultProfileName: ${LONG} }`,
    `"${CUT}" has no effect without scheduler.profiles: the default is "default-scheduler"; list the profile to change that`,
  ],
  [
    `schedulerName: volcano\nscheduler: { profiles: [{ name: ${LONG}, module: ./a.js }] }`,
    `schedulerName "volcano" contradicts scheduler.profiles (${CUT_LIST}): list it there, or keep only one of the two`,
  ],
  [
    `schedulerName: volcano\nscheduler: { defaultProfileName: ${LONG} }`,
    `schedulerName "volcano" contradicts scheduler.defaultProfileName "${CUT}": keep only one of the two`,
  ],
  [`trustedAccounts: [${LONG}, ${LONG}]`, `duplicate account "${CUT}"`],
  [
    `preemption: { mode: Act, profiles: [${LONG}] }`,
    `"${CUT}" makes room for its gangs itself, or nobody knows whether it does, and two would evict twice as much: take it out (possible: volcano)`,
  ],
  [
    `topologyAwareScheduling: { enabled: true, levels: [{ domain: ${LONG}, key: a }, { domain: ${LONG}, key: b }] }`,
    `duplicate domain "${CUT}"`,
  ],
  [
    `workloads: [{ group: a, kind: A, short: ${LONG} }, { group: b, kind: B, short: ${LONG} }]`,
    `"${CUT}" is how gangs of A begin: give this kind another one`,
  ],
  [`workloads: [{ group: a, kind: ${LONG} }]`, `is required: ${CUT} has more than 20 characters`],
  // Quoted as everywhere else: a control character in a value reaches no terminal.
  ['logLevel: "a\\e[2Jb\\"c"', 'unsupported value "a\\u{1b}[2Jb"c" (supported: debug, info, warn, error)'],
])('%#', (text, message) => {
  expect(messagesOf(text)).toContain(message);
});
