import type { Random } from '../support/random.ts';

/** How one watch goes: what has happened since, and what is wrong with the telling of it. */
export interface WatchPlan {
  /** How many events have happened when it begins. */
  readonly events: number;
  /** Lines that are no events of the history, each at its place among them. */
  readonly odd: readonly (readonly [number, string])[];
  /** Where the bytes are cut into pieces, in thousandths. */
  readonly cuts: readonly number[];
  /** How much of it is sent, in thousandths. */
  readonly sent: number;
  /** Whether the connection breaks at the end. */
  readonly cut: boolean;
}

export interface WatchInput {
  /** Object and what becomes of it, in order; the first few are there before anybody looks. */
  readonly deeds: readonly (readonly ['put' | 'remove' | 'replace', string])[];
  readonly early: number;
  readonly watches: readonly WatchPlan[];
}

const NAMES = ['a', 'b', 'c', 'd', 'ключ', '__proto__', 'constructor', '😀'] as const;
const status = (code: number, reason: string): string =>
  JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code, reason, message: 'm' } });

/** Harmless lines, and ones that no API server writes. */
const GOOD: readonly [string, ...string[]] = ['', '   ', '\r', 'BOOKMARK'];
const BAD: readonly [string, ...string[]] = [
  status(410, 'Expired'),
  status(410, 'Gone'),
  status(500, 'InternalError'),
  '{"type":"ERROR"}',
  '{"type":"ERROR","object":null}',
  '{"type":"ERROR","object":"x"}',
  'garbage',
  '{',
  '}',
  '[]',
  'null',
  '5',
  '"x"',
  '{}',
  '{"type":"ADDED"}',
  '{"type":"ADDED","object":null}',
  '{"type":"ADDED","object":5}',
  '{"type":"ADDED","object":[]}',
  '{"type":"ADDED","object":{}}',
  '{"type":"ADDED","object":{"metadata":null}}',
  '{"type":"ADDED","object":{"metadata":{}}}',
  '{"type":"ADDED","object":{"metadata":{"name":5}}}',
  '{"type":"DELETED","object":{"metadata":{}}}',
  '{"type":"BOOKMARK"}',
  '{"type":"BOOKMARK","object":{}}',
  '{"type":"BOOKMARK","object":{"metadata":{}}}',
  '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":7}}}',
  '{"object":{"metadata":{"name":"x"}}}',
  '{"type":5,"object":{"metadata":{"name":"x","resourceVersion":"1"}}}',
  '{"type":"NONSENSE","object":{"metadata":{"name":"x","namespace":"ml","uid":"u","resourceVersion":"1"}}}',
  '{"type":"__proto__","object":{"__proto__":{"polluted":true}}}',
  '<html>502 Bad Gateway</html>',
  '\u0000',
  '\ud800',
  `"${'x'.repeat(100_000)}"`,
  '['.repeat(10_000),
  'HUGE',
];

export function inputOf(random: Random): WatchInput {
  const deeds = random.list(
    14,
    () => [random.pick(['put', 'put', 'put', 'remove', 'replace'] as const), random.pick(NAMES)] as const,
  );
  return {
    deeds,
    early: random.below(deeds.length + 1),
    watches: random.list(4, () => {
      const odd = random.chance(55)
        ? random.list(
            2,
            () => [random.below(8), random.chance(30) ? random.pick(GOOD) : oddLine(random)] as const,
          )
        : [];
      return {
        events: random.below(6),
        odd,
        cuts: random.list(6, () => random.below(1_001)),
        sent: random.chance(60) ? 1_000 : random.below(1_001),
        cut: random.chance(30),
      };
    }),
  };
}

/** A line of more than 16 MiB takes its time: seldom. */
const oddLine = (random: Random): string => {
  const line = random.pick(BAD);
  return line === 'HUGE' && !random.chance(3) ? 'garbage' : line;
};

/** What happened in a namespace, as its API server tells it. */
export class History {
  readonly #input: WatchInput;
  readonly #objects = new Map<string, { uid: string; version: number }>();
  readonly #lines: { version: number; line: string }[] = [];
  #done = 0;
  head = 1;

  constructor(input: WatchInput) {
    this.#input = input;
    this.advance(input.early);
  }

  /** The next `count` deeds happen. */
  advance(count: number): void {
    for (const [deed, name] of this.#input.deeds.slice(this.#done, this.#done + count)) {
      this.#done += 1;
      const old = this.#objects.get(name);
      if (deed !== 'put' && old === undefined) continue;
      if (deed !== 'put') this.#tell('DELETED', name, old?.uid ?? '');
      if (deed === 'remove') this.#objects.delete(name);
      else
        this.#tell(
          old === undefined || deed === 'replace' ? 'ADDED' : 'MODIFIED',
          name,
          deed === 'put' && old ? old.uid : `uid-${this.head + 1}`,
        );
    }
  }

  finish(): void {
    this.advance(this.#input.deeds.length);
  }

  #tell(type: string, name: string, uid: string): void {
    this.head += 1;
    this.#objects.set(name, { uid, version: this.head });
    this.#lines.push({
      version: this.head,
      line: `${JSON.stringify({ type, object: objectOf(name, uid, this.head) })}\n`,
    });
  }

  /** The lines of a streaming list: the bookmark at its end, then the others. */
  streamed(): string[] {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = { metadata: { resourceVersion: String(this.head), annotations } };
    return [
      `${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`,
      ...this.items().map((object) => `${JSON.stringify({ type: 'ADDED', object })}\n`),
    ];
  }

  items(): unknown[] {
    return [...this.#objects].map(([name, { uid, version }]) => objectOf(name, uid, version));
  }

  /** The lines of a watch that begins at `version`. */
  since(version: number): string[] {
    return this.#lines.filter((line) => line.version > version).map(({ line }) => line);
  }

  /** What there is in the end, whatever was told meanwhile: name, uid and version. */
  end(): [string, string][] {
    const last = new History({ ...this.#input, early: this.#input.deeds.length });
    return [...last.#objects]
      .map(([name, { uid, version }]): [string, string] => [name, `${uid}@${version}`])
      .sort();
  }
}

const objectOf = (name: string, uid: string, version: number): unknown => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name,
    namespace: 'ml',
    uid,
    resourceVersion: String(version),
    managedFields: [{ manager: 'a]b"' }],
  },
});

/** The bytes of one watch, in pieces. @returns `broken` where it has to be reported */
export function linesFrom(
  lines: readonly string[],
  plan: WatchPlan,
): { pieces: Buffer[]; cut: boolean; broken: boolean } {
  const all = [...lines];
  for (const [at, line] of plan.odd) {
    const place = at % (all.length + 1);
    if (line === 'BOOKMARK') {
      // Of the place in the history where it stands.
      const before = /"resourceVersion":"([0-9]+)"/.exec(all[place - 1] ?? '')?.[1];
      if (before !== undefined)
        all.splice(place, 0, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${before}"}}}\n`);
    } else all.splice(place, 0, `${line === 'HUGE' ? 'x'.repeat(17 * 1024 * 1024) : line}\n`);
  }
  const whole = Buffer.from(all.join(''));
  const bytes = whole.subarray(0, Math.floor((whole.length * plan.sent) / 1_000));
  const cuts = [...plan.cuts].sort((a, b) => a - b).map((cut) => Math.floor((bytes.length * cut) / 1_000));
  const pieces = [...cuts, bytes.length].map((end, index) =>
    bytes.subarray(index === 0 ? 0 : cuts[index - 1], end),
  );
  const inside =
    bytes.length > 0 &&
    bytes[bytes.length - 1] !== 0x0a &&
    !/^\s*$/.test(bytes.toString().split('\n').at(-1) ?? '');
  const reached = (line: string): boolean => bytes.includes(line.slice(0, 2_000));
  const bad = plan.odd.some(([, line]) => !GOOD.includes(line) && line !== 'HUGE' && reached(`${line}\n`));
  return {
    pieces: pieces.filter((piece) => piece.length > 0),
    cut: plan.cut,
    broken: plan.cut || inside || bad || bytes.length === 0,
  };
}
