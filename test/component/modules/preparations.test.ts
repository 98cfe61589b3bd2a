/** Preparations of modules, each in a process of its own, asked by the very endpoints that the server mounts. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Policy } from '../../../src/admission/policy.ts';
import { admissionEndpoints } from '../../../src/admission/endpoints.ts';
import { own, ownString, type Json, type JsonObject } from '../../../src/json/json.ts';
import {
  PATH_MUTATE_POD,
  PATH_VALIDATE_HPC_POLICY,
  PATH_VALIDATE_POD,
  PATH_VALIDATE_POD_GANG,
} from '../../../src/api/names.ts';
import { parsePodGang } from '../../../src/gang/parse-pod-gang.ts';
import { parseHpcPolicy } from '../../../src/preparers/policy/hpc-policy.ts';
import { MODULE_LIMITS, type ModuleLimits } from '../../../src/modules/process-limits.ts';
import { gangService } from '../../../src/preparers/hosts/hosts.ts';
import { decodeObjects } from '../../../src/modules/decode-preparation.ts';
import { hostedPreparations, ModulePreparation } from '../../../src/modules/module-preparation.ts';
import { until } from '../../cluster/control-plane/until.ts';
import { hpcPolicy } from '../../support/hpc.ts';
import { hpcGang, hpcPod, underHpc } from '../../support/hpc-gangs.ts';
import { patched } from '../../support/rfc6902.ts';
import { entryIn, laterOf, PATIENT, type EntryParts } from './hosting.ts';

/** Adds a variable; `parts` come last, and `before` is run when it is loaded. */
const text = (parts = '', before = ''): string => `
import { fault, PodRefused } from 'muster';
${before}
export default {
  contractVersion: 1,
  name: 'mine',
  patchSurface: { schedulerName: true, lists: ['containers.env'] },
  validate: ({ odd }) => ({
    faults: odd === undefined ? [] : [fault('HpcSettingInvalid', 'spec.hpc.settings[odd]', { value: odd })],
    warnings: [],
  }),
  prepare: (pod, { gang, group, settings }, patch) => {
    const value = [gang.namespace, gang.name, group, settings.word, gang.annotations.size].join();
    patch.add('containers.env', { name: 'MINE', value }, 'by which it is known');
  },
  objects: (gang, settings, { certificate, subdomain }) => [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: gang.name }, stringData: { key: certificate(gang.name), subdomain } },
  ],
  ${parts}
};`;

let folder: string;
let all: readonly ModulePreparation[];
let ended: string[];
let noticed: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-preparations-'));
  [all, ended, noticed] = [[], [], []];
});
afterEach(async () => {
  for (const { hosted } of all) hosted.stop();
  await rm(folder, { recursive: true });
});

const observer = {
  ended: (_name: string, reason: string) => void ended.push(reason),
  wrote: () => undefined,
  noticed: (_name: string, notice: string) => void noticed.push(notice),
};
const write = (module: string): Promise<void> => writeFile(join(folder, 'mine.mjs'), module);
const entry = (parts?: EntryParts) => entryIn(folder, 'hpc.preparations[0].module', parts);
async function begin(
  module: string,
  limits: Partial<ModuleLimits> = PATIENT,
  more: Parameters<typeof entry>[0] = {},
): Promise<ModulePreparation> {
  await write(module);
  all = await hostedPreparations([entry(more)], observer, { ...MODULE_LIMITS, ...limits });
  const [one] = all;
  if (one === undefined) throw new Error('there is none');
  return one;
}

const spec = (settings: Json = { word: 'a' }, manager = 'mine'): Json => ({ hpc: { manager, settings } });
/** The gang `train` of `ml`, whose policy asks for the module. */
function under(settings?: Json, managers: readonly string[] = ['mine']): Policy {
  const known = parseHpcPolicy(hpcPolicy(spec(settings)), 'ml', managers);
  const stored = { policy: known.policy, wrong: known.faults[0]?.field };
  return { ...underHpc({}, { get: () => stored }), preparations: all };
}

interface Answered {
  readonly allowed: boolean;
  readonly patch: readonly JsonObject[];
  readonly said: string;
}

async function asked(
  path: string,
  kind: { readonly group: string; readonly version: string; readonly kind: string },
  object: JsonObject,
  policy: Policy,
): Promise<Answered> {
  const endpoint = admissionEndpoints(policy, { prepared: () => undefined, decided: () => undefined }).find(
    (one) => one.path === path,
  );
  const resource = { resource: `${kind.kind.toLowerCase()}s` };
  const request = { uid: 'u', kind, resource, operation: 'CREATE', namespace: 'ml', object };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request };
  const answer = await endpoint?.handle({ body: review, remainingMs: 8_000, entire: () => review });
  const response = own(JSON.parse(answer?.body ?? '{}') as Json, 'response');
  const patch = own(response, 'patch');
  return {
    allowed: own(response, 'allowed') === true,
    patch:
      typeof patch === 'string' ? (JSON.parse(Buffer.from(patch, 'base64').toString()) as JsonObject[]) : [],
    said: ownString(own(response, 'status'), 'message') ?? '',
  };
}

const POD = { group: '', version: 'v1', kind: 'Pod' };
const mutated = (policy = under(), object = hpcPod()) => asked(PATH_MUTATE_POD, POD, object, policy);
const judged = (policySpec: Json) =>
  asked(
    PATH_VALIDATE_HPC_POLICY,
    { group: 'muster.dev', version: 'v1alpha1', kind: 'HPCPolicy' },
    hpcPolicy(policySpec),
    under(),
  );
const created = (policy: Policy) =>
  asked(
    PATH_VALIDATE_POD_GANG,
    { group: 'scheduler.grove.io', version: 'v1alpha1', kind: 'PodGang' },
    hpcGang(),
    policy,
  );

describe('a preparation of a module', () => {
  test('prepares a Pod on the one patch surface, and what it prepared is let in', async () => {
    await begin(text());
    const { patch } = await mutated();
    const stored = patched(hpcPod(), patch);
    expect(stored).toMatchObject({
      metadata: { annotations: { 'muster.dev/prepared': expect.stringMatching(/^flux@[0-9a-f]{8}$/) } },
      spec: { containers: [{ env: [{ name: 'MINE', value: 'ml,train,worker,a,1' }] }] },
    });
    expect((await mutated(under(), stored)).patch).toEqual([]);
    expect(await asked(PATH_VALIDATE_POD, POD, stored, under())).toMatchObject({ allowed: true });
    const { said } = await asked(PATH_VALIDATE_POD, POD, hpcPod(), under());
    expect(said).toContain('[HpcPodNotPrepared]');
  });

  test('is heard at the admission of an HPCPolicy, and of a gang that names one', async () => {
    await begin(text());
    expect(await judged(spec({ word: 'a' }))).toMatchObject({ allowed: true });
    expect((await judged(spec({ odd: '1' }))).said).toContain(
      'spec.hpc.settings[odd]: Invalid value: "1": this setting cannot be so',
    );
    expect((await judged(spec({ word: 1 }))).said).toContain('spec.hpc.settings[word]');
    expect((await judged(spec({}, 'min'))).said).toContain('(known: flux, mine; did you mean "mine"?)');
    expect(await created(under())).toMatchObject({ allowed: true });
    expect((await created(under({ odd: '1' }))).said).toContain('spec.hpc.settings[odd]');
  });

  test('says what objects a gang needs; others than Muster may make are refused', async () => {
    const one = await begin(text());
    const gang = parsePodGang(hpcGang(), 'ml').gang;
    const { policy } = parseHpcPolicy(hpcPolicy(spec()), 'ml', ['mine']);
    const given = { certificate: (name: string) => `a key of ${name}`, subdomain: 'train' };
    const objects = async () =>
      (await one.hosted.ofGang(gang, policy, given, 5_000)).objects(gang, policy, given);
    expect(await objects()).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'train' },
        stringData: { key: 'a key of train', subdomain: 'train' },
      },
    ]);
    one.hosted.stop();
    const wrong: readonly (readonly [string, string])[] = [
      ['"none"', 'objects that are no list'],
      ['["none"]', 'an object that is none'],
      ['Array(33).fill({})', 'more than 32 objects for one gang'],
      ['[{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }]', 'an object of kind Pod'],
      ['[{ apiVersion: "v1", kind: "Secret", metadata: { name: "A" } }]', 'a Secret without a name'],
      [
        '[{ apiVersion: "v1", kind: "Secret", metadata: { name: "a", namespace: "other" } }]',
        'of another namespace',
      ],
    ];
    await write(text(`objects: () => [${wrong.map(([what]) => what).join()}][count++]`, 'let count = 0;'));
    all = await hostedPreparations([entry()], observer);
    const [again] = all;
    for (const [, why] of wrong) {
      const says = await again?.hosted.ofGang(gang, policy, given, 5_000);
      expect(() => says?.objects(gang, policy, given)).toThrow(why);
    }
  });

  test.each([
    ['refuses it by name and field', "throw new PodRefused('spec.x', 'not so')", 'spec.x: Invalid value'],
    ['leaves its surface', "patch.label('a', 'b', '')", 'outside its patchSurface'],
    [
      'sets a scheduler, which it cannot declare',
      "patch.setSchedulerName('x', '')",
      'outside its patchSurface',
    ],
    ['throws', "throw new Error('oh')", 'oh'],
  ])('a Pod for which one %s is not stored', async (_what, body, why) => {
    await begin(text(`prepare: (pod, asked, patch) => { ${body}; }`));
    const answer = await mutated().then(
      ({ said }) => said,
      (thrown: Error) => thrown.message,
    );
    expect(answer).toContain(why);
  });

  test.each<[string, string, string, Partial<ModuleLimits>]>([
    ['ends its process', 'process.exit(3)', 'it ended itself, with exit code 3', { answerMs: 30_000 }],
    ['never answers', 'for (;;);', 'it did not answer within 0.3 s', { answerMs: 300, silentMs: 3_000 }],
  ])('one that %s: reviews are told to come again, and others go on', async (_what, body, why, limits) => {
    const one = await begin(text(`prepare: () => { ${body}; }`), limits);
    const heard: (string | undefined)[] = [];
    one.hosted.onChange(() => heard.push(one.hosted.waits));
    expect(await laterOf(mutated())).toContain(`preparation mine: ${why}`);
    await until('it has ended', () => ended.length > 0);
    expect(await laterOf(mutated())).toContain('preparation mine does not run: ');
    expect(await laterOf(judged(spec()))).toContain('preparation mine does not run: ');
    expect(await laterOf(created(under()))).toContain('preparation mine does not run: ');
    expect(heard[0]).toContain('preparation mine does not run: ');
    expect(await judged({ hpc: { manager: 'flux' } })).toMatchObject({ allowed: true });
    await write(text());
    await until('it is as it was', async () => (await mutated().catch(() => undefined))?.allowed === true);
    expect(heard.at(-1)).toBeUndefined();
  });
});

describe('what is wrong with a module', () => {
  test('a file that is missing, or not what its hash says, is told at once', async () => {
    await write(text());
    const wrong = createHash('sha256').update('other').digest('base64');
    for (const [more, code] of [
      [{ module: './none.mjs' }, 'BACKEND_MODULE_MISSING'],
      [{ integrity: `sha256-${wrong}` }, 'BACKEND_MODULE_INTEGRITY'],
    ] as const)
      await expect(hostedPreparations([entry(more)], observer)).rejects.toMatchObject({ code });
  });

  test.each([
    [
      'another name',
      text("name: 'yours'"),
      'exports the preparation "yours", and its entry is called "mine"',
    ],
    ['no preparation', 'export default 3;', 'has no preparation as its default export or as "preparation"'],
    [
      'a later contract',
      text('contractVersion: 2'),
      'written for version 2 of the contract, this is version 1',
    ],
    ['no contract', text('contractVersion: undefined'), 'a preparation without name and contractVersion'],
    ['no surface', text('patchSurface: undefined'), 'a preparation without a patchSurface'],
    ['config that it does not take', text(), 'has no configure(): leave out config', { config: { a: 1 } }],
    [
      'config that it refuses',
      text('configure: () => { throw new Error("a is wrong"); }'),
      'a is wrong',
      { config: { a: 1 } },
    ],
  ])(
    '%s: its gangs wait with the reason',
    async (_what, module, why, more: { readonly config?: JsonObject } = {}) => {
      const one = await begin(module, {}, more);
      expect(one.hosted.waits).toContain(`preparation mine does not run: `);
      expect(one.hosted.waits).toContain(why);
      expect(await laterOf(mutated())).toContain(why.slice(0, 20));
    },
  );

  test('one for an older version of the contract works, and is told of', async () => {
    await write(text());
    const one = new ModulePreparation(entry(), observer, MODULE_LIMITS, { oldest: 1, current: 2 });
    all = [one];
    await one.begin();
    expect((await mutated()).allowed).toBe(true);
    expect(noticed).toEqual([
      'preparation mine is written for version 1 of the contract; this is version 2, and a later Muster will refuse it: use a newer release of the preparation',
    ]);
  });

  test('has to be asked before anything is said of a gang of its own, and says nothing of others', async () => {
    const one = await begin(text());
    const gang = parsePodGang(hpcGang(), 'ml').gang;
    const [mine, flux] = [spec(), { hpc: {} }].map(
      (one) => parseHpcPolicy(hpcPolicy(one), 'ml', ['mine']).policy,
    );
    if (mine === undefined || flux === undefined) throw new Error('no policies');
    for (const call of [one.preparer.bind(one), one.validate.bind(one), one.objects.bind(one)])
      expect(() => call(gang, mine)).toThrow('preparation mine has to be asked first');
    expect(one.preparer(gang, flux)).toBeUndefined();
    expect(one.validate(gang, flux)).toEqual({ faults: [], warnings: [] });
    expect(one.objects(gang, flux)).toEqual([]);
  });
});

test.each([
  [
    'a Secret of another type',
    { kind: 'Secret', type: 'kubernetes.io/service-account-token' },
    'Secret train of a type other than Opaque',
  ],
  [
    'a Service for the world',
    { kind: 'Service', spec: { type: 'LoadBalancer', selector: { 'grove.io/podgang': 'train' } } },
    'a Service that is more than headless with the selector grove.io/podgang: train: type',
  ],
  [
    'a Service of other Pods',
    { kind: 'Service', spec: { clusterIP: 'None', selector: { app: 'payroll' } } },
    'a Service that is more than headless with the selector grove.io/podgang: train',
  ],
  [
    'addresses of elsewhere',
    {
      kind: 'Service',
      spec: { clusterIP: 'None', selector: { 'grove.io/podgang': 'train' }, externalIPs: ['10.0.0.1'] },
    },
    'grove.io/podgang: train: externalIPs',
  ],
])('whoever may make a PodGang may not therefore make %s', (_what, parts, says) => {
  const object = { apiVersion: 'v1', metadata: { name: 'train' }, ...parts };
  expect(() => decodeObjects([object], { namespace: 'ml', name: 'train' })).toThrow(says);
});

test('the Service of a gang is made for it', () => {
  const gang = { namespace: 'ml', name: 'train' };
  const [service = {}] = gangService(parsePodGang(hpcGang(), 'ml').gang, undefined, {
    name: 'ssh',
    port: 22,
  });
  expect(decodeObjects([service], gang)).toEqual([service]);
});

test('the example of docs/preparations.md runs so', async () => {
  const example = new URL('../../../docs/examples/hostfile-preparation.ts', import.meta.url);
  const source = await readFile(example, 'utf8');
  await writeFile(join(folder, 'mine.ts'), source.replace("'../../src/index.ts'", "'@muster-dev/muster'"));
  all = await hostedPreparations(
    [entry({ name: 'hostfile', module: './mine.ts', config: { folder: '/mpi' } })],
    observer,
  );
  expect(all[0]?.hosted.waits).toBeUndefined();
  const known = parseHpcPolicy(hpcPolicy(spec({ slots: '2' }, 'hostfile')), 'ml', ['hostfile']).policy;
  const policy = { ...underHpc({}, { get: () => ({ policy: known, wrong: undefined }) }), preparations: all };
  const stored = patched(hpcPod(), (await mutated(policy)).patch);
  expect(stored).toMatchObject({
    spec: {
      hostname: 'worker-0',
      subdomain: 'train',
      volumes: [{ name: 'hostfile', configMap: { name: 'train-hostfile' } }],
      containers: [{ volumeMounts: [{ mountPath: '/mpi' }] }],
    },
  });
  expect((await mutated(policy, hpcPod({ spec: { hostNetwork: true } }))).said).toContain('spec.hostNetwork');
});
