import { fileURLToPath } from 'node:url';
import { admissionEndpoints } from '../../src/admission/endpoints.ts';
import { unreadOf } from '../../src/server/request-body.ts';
import type { WebhookEndpoint, WebhookResponse } from '../../src/api/webhook-endpoint.ts';
import { LABEL_SCHEDULER_NAME, PATH_MUTATE_POD } from '../../src/api/names.ts';
import { withoutLists } from '../../src/json/unread-lists.ts';
import type { BackendFactory } from '../../src/backends/backend.ts';
import { BackendRegistry } from '../../src/backends/registry.ts';
import { hostedModules } from '../../src/modules/module-backend.ts';
import { bodyOf, reviewOf } from '../admission/reviews.ts';
import { meanOf, median, type Estimate } from '../measure/interval.ts';

// The example of docs/backends.md: what it does for a Pod costs next to nothing, so that the way there is measured.
const { line } = (await import(new URL('../../docs/examples/line-backend.ts', import.meta.url).href)) as {
  line: BackendFactory;
};
const NAME = line.name;

/** Microseconds of one review, wall time and CPU of Muster's own process. */
export interface ModuleRow {
  readonly title: string;
  readonly wall: number;
  readonly cpu: number;
  readonly moreWall: Estimate;
}

export interface ModuleTiming {
  readonly rounds: number;
  /** In one turn. */
  readonly reviews: number;
}

const WAYS = [
  { title: 'in this process', hosted: false, abreast: 1 },
  { title: 'in a process of its own', hosted: true, abreast: 1 },
  { title: 'in a process of its own, 16 reviews at a time', hosted: true, abreast: 16 },
] as const;

/** What it costs that a backend is in a process of its own: the same backend, the same reviews. */
export async function measureModule(timing: ModuleTiming): Promise<ModuleRow[]> {
  // A module's process keeps no program alive, and nothing else does here.
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await measured(timing);
  } finally {
    clearInterval(alive);
  }
}

async function measured({ rounds, reviews }: ModuleTiming): Promise<ModuleRow[]> {
  const [here, there] = [await endpointOf([line]), await endpointOf(await elsewhere())];
  const text = Buffer.from(JSON.stringify(reviewed()));
  // As the server reads it: without what neither backend declares to look at.
  const body: unknown = JSON.parse(withoutLists(text, unreadOf(here, text)));
  const entire = (): unknown => JSON.parse(text.toString());
  const samples = WAYS.map(() => ({ wall: [] as number[], cpu: [] as number[] }));
  for (let round = -rounds; round < rounds; round += 1) {
    for (const [index, { hosted, abreast }] of WAYS.entries()) {
      const endpoint = hosted ? there : here;
      const since = performance.now();
      const before = process.cpuUsage();
      for (let count = 0; count < reviews; count += abreast) {
        const answers = Array.from({ length: abreast }, () =>
          Promise.resolve(endpoint.handle({ body, remainingMs: 10_000, entire })),
        );
        for (const given of await Promise.all(answers)) check(given);
      }
      const { user, system } = process.cpuUsage(before);
      if (round < 0) continue;
      samples[index]?.wall.push(((performance.now() - since) * 1000) / reviews);
      samples[index]?.cpu.push((user + system) / reviews);
    }
  }
  there.stop();
  const base = samples[0]?.wall ?? [];
  return samples.map(({ wall, cpu }, index) => ({
    title: WAYS[index]?.title ?? '',
    wall: median(wall),
    cpu: median(cpu),
    moreWall: meanOf(wall.map((value, round) => value - (base[round] ?? Number.NaN))),
  }));
}

const elsewhere = (): Promise<readonly BackendFactory[]> => {
  const module = fileURLToPath(new URL('../../docs/examples/line-backend.ts', import.meta.url));
  return hostedModules([{ name: NAME, module, folder: '/', field: 'module' }], {
    wrote: () => undefined,
    ended: (_name, reason) => {
      throw new Error(`the module has ended: ${reason}`);
    },
  });
};

async function endpointOf(
  factories: readonly BackendFactory[],
): Promise<Pick<WebhookEndpoint, 'handle' | 'unread'> & { stop: () => void }> {
  const registry = new BackendRegistry([{ name: NAME }], NAME, { factories });
  const { signal } = new AbortController();
  const { state } = await registry.init(NAME, (init) => init({ cluster: undefined, signal }));
  if (state !== 'ready') throw new Error(`the backend is ${state}`);
  const policy = {
    registry,
    trustedAccounts: new Set<string>(),
    exemptNamespaces: new Set<string>(),
    topology: { enabled: false, keys: [] },
  };
  const silent = { prepared: () => undefined, decided: () => undefined };
  const found = admissionEndpoints(policy, silent).find(({ path }) => path === PATH_MUTATE_POD);
  if (found === undefined) throw new Error('there is no such endpoint');
  return {
    handle: (request) => found.handle(request),
    unread: found.unread,
    stop: () => {
      for (const { hosted } of registry.hosted) hosted.stop();
    },
  };
}

function reviewed(): unknown {
  const review = reviewOf(bodyOf(8), 0) as {
    request: { object: { metadata: { labels: Record<string, string> }; spec: Record<string, unknown> } };
  };
  review.request.object.metadata.labels[LABEL_SCHEDULER_NAME] = NAME;
  return review;
}

/** A decision that does nothing would be quick. */
function check({ outcome, body }: WebhookResponse): void {
  if (outcome !== 'patched') throw new Error(`another answer: ${body}`);
}
