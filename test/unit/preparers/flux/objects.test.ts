import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { own, ownObject, ownString, type JsonObject } from '../../../../src/json/json.ts';
import { curveCertificate, toZ85 } from '../../../../src/preparers/flux/curve-certificate.ts';
import { makeCurveCertificate } from '../../../../src/preparers/flux/curve/make-certificate.ts';
import { checkFluxGang } from '../../../../src/preparers/flux/preparer.ts';
import { renderFluxObjects, type FluxObjectOptions } from '../../../../src/preparers/flux/objects.ts';
import type { FluxSettings } from '../../../../src/preparers/flux/settings.ts';
import { asksOf } from '../../../../src/preparers/hosts/asks.ts';
import { hostGroups, hostList, hostNames } from '../../../../src/preparers/hosts/hosts.ts';
import { gangOf, settings } from '../../../support/hpc.ts';

const CERTIFICATE = makeCurveCertificate('g');
const render = (gang = gangOf({ worker: 4 }), given: Partial<FluxSettings> = {}, more = {}): JsonObject[] =>
  renderFluxObjects(gang, settings(given), { certificate: CERTIFICATE, ...more } satisfies FluxObjectOptions);
const dataOf = (...given: Parameters<typeof render>): Record<string, string> =>
  ownObject(render(...given)[0], 'data') as Record<string, string>;
const kinds = (objects: readonly JsonObject[]): string[] =>
  objects.map((one) => `${ownString(one, 'kind') ?? ''}/${ownString(own(one, 'metadata'), 'name') ?? ''}`);

describe('the objects of a gang under Flux', () => {
  test("vector 2: ConfigMap and Secret of the names that Trainer gives them, all marked as Muster's and the gang's", () => {
    const objects = render(gangOf({ node: 2 }, { name: 'test-job' }));
    expect(kinds(objects)).toEqual([
      'ConfigMap/test-job-flux-entrypoint',
      'Secret/test-job-flux-curve',
      'Service/test-job',
    ]);
    for (const object of objects) {
      expect(own(object, 'metadata')).toMatchObject({
        namespace: 'n',
        labels: { 'app.kubernetes.io/managed-by': 'muster', 'grove.io/podgang': 'test-job' },
      });
    }
  });

  test('pitfall 11: the Service publishes Pods that are not ready', () => {
    expect(render()[2]).toMatchObject({
      spec: {
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: { 'grove.io/podgang': 'g' },
        ports: [{ port: 8050 }],
      },
    });
  });

  test('a Service is left to the owner of Pods that have a subdomain', () => {
    const objects = render(gangOf({ worker: 2 }), {}, { subdomain: 'theirs' });
    expect(kinds(objects)).toEqual(['ConfigMap/g-flux-entrypoint', 'Secret/g-flux-curve']);
    expect(JSON.stringify(objects[0])).toContain('tcp://%h.theirs.n.svc.cluster.local:%p');
    expect(kinds(render(gangOf({ worker: 2 }), {}, { subdomain: 'g' }))).toContain('Service/g');
  });

  test('vector 20: two groups, the lead first, quorum of all', () => {
    const data = dataOf(gangOf({ 'g-leader': 1, 'g-worker': 4 }));
    expect(data).toMatchObject({
      hostlist: 'g-leader-0,g-worker-[0-3]\n',
      hosts: '5\n',
      lead: 'g-leader-0\n',
      quorum: '5\n',
      resources: 'g-leader-0 1 - -\ng-worker-[0-3] 4 - -\n',
      'tasks-per-node': '1\n',
    });
    expect(data['broker.toml']).toContain(
      'hosts = [\n  { host = "g-leader-0" },\n  { host = "g-worker-[0-3]" },\n]\n',
    );
  });

  test('lead-group moves its group to the front', () => {
    const data = dataOf(gangOf({ worker: 4, leader: 1 }), { leadGroup: 'leader' });
    expect(data).toMatchObject({ hostlist: 'leader-0,worker-[0-3]\n', lead: 'leader-0\n' });
  });

  test('pitfall 14: hosts for all that are expected, quorum the minimum of the gang', () => {
    const gang = gangOf({ leader: 1, worker: 3 }, { expected: 'worker=8' });
    expect(dataOf(gang)).toMatchObject({ hostlist: 'leader-0,worker-[0-7]\n', hosts: '9\n', quorum: '4\n' });
    expect(dataOf(gang, { quorum: 2 })).toMatchObject({ hosts: '9\n', quorum: '2\n' });
  });

  test('vectors 13 and 14: device, queue policy and domain', () => {
    const toml = dataOf(gangOf({ worker: 2 }, { name: 'j' }), {
      networkDevice: 'net1',
      queuePolicy: 'easy',
      clusterDomain: 'corp.local',
    })['broker.toml'];
    expect(toml).toContain('default_bind = "tcp://net1:%p"\n');
    expect(toml).toContain('queue-policy = "easy"\n');
    expect(toml).toContain('default_connect = "tcp://%h.j.n.svc.corp.local:%p"\n');
    expect(dataOf(gangOf({ worker: 2 }, { name: 'j' }))['broker.toml']).toContain(
      'default_connect = "tcp://%h.j.n.svc.cluster.local:%p"\n',
    );
  });

  test('vector 12: what the Pods of each group ask for, as far as it is known', () => {
    const asks = new Map([['b', '4 2']]);
    const data = dataOf(gangOf({ a: 1, b: 2 }), { tasksPerNode: 'gpu', coresPerTask: 2 }, { asks });
    expect(data).toMatchObject({
      resources: 'a-0 1 - -\nb-[0-1] 2 4 2\n',
      'tasks-per-node': 'gpu\n',
      'cores-per-task': '2\n',
      'gpus-per-task': '0\n',
      exclusive: 'true\n',
      'cpu-affinity': 'auto\n',
      'gpu-affinity': 'per-task\n',
      pmi: 'simple\n',
    });
  });

  test('a group whose Pods ask for different amounts is said, not guessed', () => {
    const pods = [
      { group: 'a', asks: '- 0' },
      { group: 'b', asks: '4 2' },
      { group: 'b', asks: undefined },
    ];
    expect([...asksOf(pods)]).toEqual([
      ['a', '- 0'],
      ['b', '4 2'],
    ]);
    expect(() => asksOf([...pods, { group: 'a', asks: '8 1' }])).toThrow(
      'Pods of group a ask for different amounts (8 cores and 1 GPU; no cores and 0 GPUs): Flux is told of a group, not of a Pod',
    );
  });

  test('pitfall 9: no name of theirs is a volume of the Pod', () => {
    expect(checkFluxGang(gangOf({ worker: 2 }, { name: 'a'.repeat(63) }), settings())).toEqual([]);
    expect(kinds(render(gangOf({ worker: 2 }, { name: 'a'.repeat(63) })))).toContain(
      `ConfigMap/${'a'.repeat(63)}-flux-entrypoint`,
    );
  });

  test('the same gang gives the same ConfigMap and Service, in the same order', () => {
    const texts = (): string[] => [render()[0], render()[2]].map((one) => JSON.stringify(one));
    expect(texts()).toEqual(texts());
  });
});

describe('hosts', () => {
  test('vector 6: that have names of their own, in Flux’s notation, in their order, and the first of them leads', () => {
    const annotations = new Map([['muster.dev/hosts', 'leader=vllm-2,worker=a-0-[0-1],worker=a-1-[0-1]']]);
    const gang = { ...gangOf({ leader: 1, worker: 4 }), annotations };
    expect(checkFluxGang(gang, settings())).toEqual([]);
    const data = dataOf(gang);
    expect(data['hostlist']).toBe('vllm-2,a-0-[0-1],a-1-[0-1]\n');
    expect(data['lead']).toBe('vllm-2\n');
    expect(data['hosts']).toBe('5\n');
    expect(data['resources']).toBe('vllm-2 1 - -\na-0-[0-1],a-1-[0-1] 4 - -\n');
    expect(data['broker.toml']).toContain('  { host = "vllm-2" },\n  { host = "a-0-[0-1],a-1-[0-1]" },\n');
    expect(hostNames(hostGroups(gang, 'worker'))).toEqual(['a-0-0', 'a-0-1', 'a-1-0', 'a-1-1', 'vllm-2']);
  });

  test.each([
    ['worker=a', '"worker=a" is not group=prefix-0 or group=prefix-[0-3]'],
    ['worker=a-[3-1]', '"worker=a-[3-1]" is not group=prefix-0 or group=prefix-[0-3]'],
    ['crew=a-[0-3]', 'crew is no group of this gang'],
    ['worker=a-[0-2]', '3 of group worker, of which 4 Pods are expected'],
    ['worker=a-[0-2],worker=a-[2-3]', 'a host is named twice'],
  ])('that are not as they have to be: %s', (text, says) => {
    const annotations = new Map([['muster.dev/hosts', text]]);
    const [fault, ...more] = checkFluxGang({ ...gangOf({ worker: 4 }), annotations }, settings());
    expect([more, fault?.rule]).toEqual([[], 'HpcHostsInvalid']);
    expect(fault?.message).toContain(`(${says}); write group=prefix-[0-3] for each group`);
  });

  test('vector 7: one host, and four', () => {
    // Trainer writes [0] for one; Flux takes both for the same host.
    expect(hostList({ group: 'lammps-job-node-0', hosts: 1 })).toBe('lammps-job-node-0-0');
    expect(hostList({ group: 'flux-cluster-node-0', hosts: 4 })).toBe('flux-cluster-node-0-[0-3]');
    expect(checkFluxGang(gangOf({ '': 2 }), settings()).map(({ rule }) => rule)).toEqual([
      'HpcHostNameInvalid',
    ]);
  });

  test('groups without Pods are left out', () => {
    expect(hostGroups(gangOf({ a: 0, b: 2 }))).toEqual([{ group: 'b', hosts: 2 }]);
  });
});

describe('a gang that cannot run under Flux', () => {
  const rules = (...given: [...Parameters<typeof checkFluxGang>]): string[] =>
    checkFluxGang(...given).map(({ rule, field }) => `${rule} ${field}`);

  test.each([
    [
      'all at once',
      gangOf({ W: 0, a_b: 1 }, { name: '1.x', expected: 'q=1' }),
      settings({ quorum: 9 }),
      [
        'HpcExpectedInvalid metadata.annotations[muster.dev/expected-pods]',
        'HpcServiceNameInvalid metadata.name',
        'HpcHostNameInvalid spec.podgroups[1].name',
        'HpcQuorumTooLarge spec.hpc.settings[quorum]',
      ],
    ],
    [
      'a lead without Pods',
      gangOf({ a: 0, b: 1 }),
      settings({ leadGroup: 'a' }),
      ['HpcLeadGroupUnknown spec.hpc.settings[lead-group]'],
    ],
    [
      'minimums of 0 and expected Pods',
      gangOf({ a: 0 }, { expected: 'a=2' }),
      settings(),
      ['HpcHostsNone spec.podgroups'],
    ],
    [
      'the hundredth host',
      gangOf({ ['w'.repeat(60)]: 101 }),
      settings(),
      ['HpcHostNameInvalid spec.podgroups[0].name'],
    ],
  ])('%s', (_what, gang, given, wanted) => {
    expect(rules(gang, given)).toEqual(wanted);
  });

  test('a subdomain of its own needs no Service of the name of the gang', () => {
    expect(rules(gangOf({ a: 1 }, { name: '1.x' }), settings(), 'theirs')).toEqual([]);
  });

  test('whatever passes has host names, a lead among them, and a quorum that can be reached', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}[a-zA-Z0-9_.]?$/);
    const minimums = fc.dictionary(name, fc.integer({ min: 0, max: 2000 }), { minKeys: 1, maxKeys: 4 });
    fc.assert(
      fc.property(
        minimums,
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        (groups, quorum) => {
          const gang = gangOf(groups);
          const given = settings({ quorum });
          fc.pre(checkFluxGang(gang, given).length === 0);
          const data = dataOf(gang, given);
          expect(Number(data['quorum'])).toBeLessThanOrEqual(Number(data['hosts']));
          expect(Number(data['quorum'])).toBeGreaterThan(0);
          expect(data['hostlist']).toMatch(/^[a-z0-9[\],-]+\n$/);
          expect(data['hostlist']?.startsWith((data['lead'] ?? '').trim().slice(0, -1))).toBe(true);
        },
      ),
    );
  });
});

describe('the certificate', () => {
  const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

  test('vector 8: Z85', () => {
    expect(toZ85(bytes('00000000'))).toBe('00000');
    expect(toZ85(bytes('864FD26FB559F75B'))).toBe('HelloWorld');
    expect(toZ85(bytes('ff'.repeat(32)))).toBe('%nSc0'.repeat(8));
    expect(() => toZ85(bytes('000000'))).toThrow(RangeError);
  });

  test('vector 9: the keys of the documentation of ZeroMQ, each public key that of its secret one', () => {
    for (const [secret, key] of [
      ['JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6', 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7'],
      ['D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs', 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID'],
    ] as const) {
      expect(toZ85(publicOf(fromZ85(secret)))).toBe(key);
    }
  });

  const LINES =
    /^#.*\n#.*\n\nmetadata\n {4}name = "g"\ncurve\n {4}public-key = "(.{40})"\n {4}secret-key = "(.{40})"\n$/;

  test('vector 10, pitfall 3: is what Flux reads, of a key pair, and another one each time', () => {
    const [one, other] = [makeCurveCertificate('g'), makeCurveCertificate('g')];
    expect(one).not.toBe(other);
    const [, key = '', secret = ''] = LINES.exec(one) ?? [];
    expect(toZ85(publicOf(fromZ85(secret)))).toBe(key);
    for (const line of one.split('\n')) expect(line.length).toBeLessThan(256);
    for (const value of [key, secret]) expect(value).toMatch(/^[\w.:+=^!/*?&<>()[\]{}@%$#-]{40}$/);
  });

  test('travels in base64, whatever its characters, and only in the Secret', () => {
    const certificate = curveCertificate('g', {
      publicKey: bytes('ff'.repeat(32)),
      secretKey: bytes('01'.repeat(32)),
    });
    const objects = renderFluxObjects(gangOf({ a: 1 }), settings(), { certificate });
    const secret = ownString(ownObject(objects[1], 'data'), 'curve.cert') ?? '';
    expect(Buffer.from(secret, 'base64').toString()).toBe(certificate);
    expect(JSON.stringify([objects[0], objects[2]])).not.toContain(toZ85(bytes('01'.repeat(32))));
  });
});

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

function fromZ85(text: string): Buffer {
  const bytes = Buffer.alloc((text.length / 5) * 4);
  for (let at = 0; at < text.length; at += 5) {
    const digits = [...text.slice(at, at + 5)].map((one) => ALPHABET.indexOf(one));
    bytes.writeUInt32BE(
      digits.reduce((sum, digit) => sum * 85 + digit, 0),
      (at / 5) * 4,
    );
  }
  return bytes;
}

/** By the form that a private key of X25519 has in PKCS #8. */
function publicOf(secret: Buffer): Buffer {
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), secret]);
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
}
