import fs from 'node:fs';
import type { JsonObject } from '../../../src/json/json.ts';
import type { Membership } from '../../../src/gang/membership.ts';
import type { HpcGang, PreparerFactory } from '../../../src/preparers/preparer-factory.ts';
import {
  PodRefused,
  type PatchSurface,
  type PodPatch,
  type PodReader,
} from '../../../src/preparers/preparer.ts';

const GREETING = 'greet.example.com/from';

/** A preparation in which nothing is wrong: each of the broken ones differs from it in one thing. */
export const soundPreparation: PreparerFactory = {
  name: 'greet',
  preparer: (gang, { torch }) =>
    torch && { name: 'greet', patchSurface: SURFACE, prepare: (_pod, _member, patch) => greet(gang, patch) },
  validate: (_gang, { torch }) => ({
    faults: [],
    warnings: torch === undefined ? [] : ['greetings take a while'],
  }),
  objects: (gang, { torch }, { certificate }) =>
    torch === undefined
      ? []
      : [
          { ...made('ConfigMap', gang, `${gang.name}-greeting`), data: { text: `from ${gang.name}` } },
          { ...made('Secret', gang, `${gang.name}-seal`), data: { seal: btoa(certificate(gang.name)) } },
        ],
};

const SURFACE: PatchSurface = {
  annotations: [GREETING],
  lists: ['spec.volumes'],
  fields: ['containers.command', 'containers.args', 'spec.hostname'],
};

function greet({ name }: HpcGang, patch: PodPatch): void {
  patch.annotate(GREETING, name, 'who greets');
  patch.add('spec.volumes', { name: 'greeting', configMap: { name: `${name}-greeting` } }, 'what is said');
}

const made = (kind: string, { namespace }: HpcGang, name: string): JsonObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { namespace, name },
});

type Prepare = (pod: PodReader, patch: PodPatch, gang: HpcGang, member: Membership) => unknown;

/** Prepares as the sound one does, and then more. */
const andThen = (more: Prepare, surface: PatchSurface = {}): PreparerFactory => ({
  ...soundPreparation,
  preparer: (gang, { torch }) =>
    torch && {
      name: 'greet',
      patchSurface: { ...SURFACE, ...surface },
      prepare: (pod, member, patch) => {
        greet(gang, patch);
        return more(pod, patch, gang, member) as void;
      },
    },
});

const nothing = (): undefined => undefined;
const surface = (parts: PatchSurface): PreparerFactory => andThen(nothing, parts);
const changed = (parts: Partial<PreparerFactory>): PreparerFactory => ({ ...soundPreparation, ...parts });

/** Makes what the sound one makes, and then more. */
const making = (more: (gang: HpcGang) => JsonObject): PreparerFactory =>
  changed({
    objects: (gang, policy, given) =>
      policy.torch === undefined ? [] : [...soundPreparation.objects(gang, policy, given), more(gang)],
  });

const wordsOf = (pod: PodReader): string[] =>
  ['command', 'args'].flatMap((key) => (pod.at(['spec', 'containers', '0', key]) ?? []) as string[]);

let calls = 0;

export interface BrokenPreparation {
  /** The one rule that it breaks. */
  readonly breaks: string;
  readonly how: string;
  readonly says: string;
  readonly preparation: PreparerFactory;
}

export const brokenPreparations: readonly BrokenPreparation[] = [
  {
    breaks: 'name',
    how: 'is called as nothing may be',
    says: '"Greet!" is no such name',
    preparation: changed({ name: 'Greet!' }),
  },
  {
    breaks: 'name',
    how: 'has a preparer of another name',
    says: 'the preparation is "hello", its preparer "greet"',
    preparation: changed({ name: 'hello' }),
  },
  {
    breaks: 'name',
    how: 'prepares nobody at all',
    says: 'preparer() gives nobody, though the HPCPolicy that is given asks for it',
    preparation: changed({ preparer: nothing }),
  },
  {
    breaks: 'asked-for',
    how: 'prepares whoever has a policy',
    says: 'preparer() prepares Pods by {"hpc":{"manager":"flux"}}',
    preparation: changed({
      preparer: (gang) => ({
        name: 'greet',
        patchSurface: SURFACE,
        prepare: (_pod, _member, patch) => greet(gang, patch),
      }),
    }),
  },
  {
    breaks: 'asked-for',
    how: 'warns of any policy',
    says: 'validate() has something to say of {"hpc":{"manager":"flux"}}',
    preparation: changed({ validate: () => ({ faults: [], warnings: ['greetings take a while'] }) }),
  },
  {
    breaks: 'asked-for',
    how: 'makes objects for any policy',
    says: 'objects() makes some by {"hpc":{"manager":"flux"}}',
    preparation: changed({ objects: (gang) => [made('ConfigMap', gang, `${gang.name}-greeting`)] }),
  },
  {
    breaks: 'surface',
    how: 'declares a label of Muster’s',
    says: 'grove.io/podgang is Muster’s',
    preparation: surface({ labels: ['grove.io/podgang'] }),
  },
  {
    breaks: 'surface',
    how: 'declares a key that is none',
    says: '"a b" is no legal key',
    preparation: surface({ annotations: [GREETING, 'a b'] }),
  },
  {
    breaks: 'surface',
    how: 'wants to choose the scheduler',
    says: 'schedulerName is the backend’s to set',
    preparation: surface({ schedulerName: true }),
  },
  {
    breaks: 'prepare-synchronous',
    how: 'is async',
    says: 'it returned a promise: what it does later reaches no Pod',
    preparation: andThen(() => Promise.resolve()),
  },
  {
    breaks: 'prepare-synchronous',
    how: 'returns the patch',
    says: 'it returned "done"',
    preparation: andThen(() => 'done'),
  },
  {
    breaks: 'prepare-pure',
    how: 'looks at the clock and reads a file, and goes on without either',
    says: 'it called Date.now, fs.readFileSync',
    preparation: andThen(() => {
      for (const work of [() => Date.now(), () => fs.readFileSync('/nowhere')]) {
        try {
          work();
        } catch {
          // Goes on.
        }
      }
    }),
  },
  {
    breaks: 'prepare-throws',
    how: 'throws what is no refusal',
    says: 'it threw "no greeting": Pods fail with 500',
    preparation: andThen(() => {
      throw new Error('no greeting');
    }),
  },
  {
    breaks: 'prepare-throws',
    how: 'refuses without a field',
    says: 'it refused a Pod without a field or a reason',
    preparation: andThen((pod) => {
      if (pod.name === 'worker-0') throw new PodRefused('', 'no');
    }),
  },
  {
    breaks: 'prepare-throws',
    how: 'refuses everybody',
    says: 'it refused every Pod (spec.hostname: not welcome)',
    preparation: andThen(() => {
      throw new PodRefused('spec.hostname', 'not welcome');
    }),
  },
  {
    breaks: 'patch-surface',
    how: 'labels what it did not declare',
    says: 'preparer greet called label x, which is outside its patchSurface',
    preparation: andThen((_pod, patch) => patch.label('x', 'y', 'why not')),
  },
  {
    breaks: 'prepare-same-bytes',
    how: 'counts',
    says: 'the second patch of a Pod differs from the first',
    preparation: andThen((_pod, patch) => patch.add('spec.volumes', { name: `n-${++calls}` }, 'one more')),
  },
  {
    breaks: 'prepare-same-bytes',
    how: 'adds in another order each time',
    says: 'the second patch of a Pod differs from the first',
    preparation: andThen((_pod, patch) => {
      const names = ['left', 'right'];
      if (++calls % 2 === 0) names.reverse();
      for (const name of names) patch.add('spec.volumes', { name, emptyDir: {} }, 'two sides');
    }),
  },
  {
    breaks: 'prepare-idempotent',
    how: 'puts its words before the command each time',
    says: 'it patched the prepared Pod again, at /spec/containers/0/',
    preparation: andThen((pod, patch) => {
      patch.set('containers.command', ['greet', ...wordsOf(pod)], 'greets first');
      patch.set('containers.args', [], 'they stand in the command');
    }),
  },
  {
    breaks: 'prepare-idempotent',
    how: 'refuses the Pod that it prepared',
    says: 'it refused the Pod that it prepared: ',
    preparation: andThen((pod) => {
      if (pod.annotation(GREETING) !== undefined)
        throw new PodRefused('metadata.annotations', 'greeted already');
    }),
  },
  {
    breaks: 'keeps-command',
    how: 'joins the words for a shell',
    says: 'another program, or with other arguments',
    preparation: andThen((pod, patch) => {
      const words = wordsOf(pod);
      if (words[0] === 'sh') return;
      patch.set('containers.command', ['sh', '-c', words.join(' ')], 'greets first');
      patch.set('containers.args', [], 'they stand in the command');
    }),
  },
  {
    breaks: 'mounts-made',
    how: 'mounts what it does not make',
    says: 'the Pod would wait for Secret nobody for ever, which objects() does not make',
    preparation: andThen((_pod, patch) =>
      patch.add('spec.volumes', { name: 'seal', secret: { secretName: 'nobody' } }, 'to be sure'),
    ),
  },
  {
    breaks: 'validate-says',
    how: 'throws for a gang without groups',
    says: 'it threw "no groups": say what is wrong as a fault',
    preparation: changed({
      validate: (gang, policy) => {
        if (gang.spec.groups.length === 0) throw new Error('no groups');
        return soundPreparation.validate(gang, policy);
      },
    }),
  },
  {
    breaks: 'validate-says',
    how: 'has a rule of its own',
    says: '"Greeted" is no rule of Muster’s',
    preparation: changed({
      validate: (gang, policy) =>
        gang.spec.groups.length > 0
          ? soundPreparation.validate(gang, policy)
          : {
              faults: [{ rule: 'Greeted' as never, field: 'spec', reason: 'r', message: 'm' }],
              warnings: [],
            },
    }),
  },
  {
    breaks: 'validate-says',
    how: 'counts in the gang',
    says: 'it changed the gang',
    preparation: changed({
      validate: (gang, policy) => {
        (gang as { name: string }).name += '!';
        const verdict = soundPreparation.validate(gang, policy);
        return verdict;
      },
    }),
  },
  {
    breaks: 'takes-a-gang',
    how: 'takes none',
    says: 'it refuses a plain one: spec.podgroups: ',
    preparation: changed({
      validate: (_gang, { torch }) => ({
        faults:
          torch === undefined
            ? []
            : [{ rule: 'HpcHostsNone', field: 'spec.podgroups', reason: 'r', message: 'm' }],
        warnings: [],
      }),
    }),
  },
  {
    breaks: 'objects-pure',
    how: 'throws dice for its seal',
    says: 'it called Math.random',
    preparation: making((gang) => ({
      ...made('Secret', gang, `${gang.name}-dice`),
      data: { dice: String(Math.random()) },
    })),
  },
  {
    breaks: 'objects-same',
    how: 'numbers its objects',
    says: 'the second time they were others',
    preparation: making((gang) => made('ConfigMap', gang, `${gang.name}-${++calls}`)),
  },
  {
    breaks: 'objects-owned',
    how: 'makes a Pod',
    says: '"v1 Pod" is none that Muster may make for a gang',
    preparation: making((gang) => made('Pod', gang, `${gang.name}-greeter`)),
  },
  {
    breaks: 'objects-owned',
    how: 'gives a name that is none',
    says: '"train_greeting" is no object’s name',
    preparation: making((gang) => made('ConfigMap', gang, `${gang.name}_greeting`)),
  },
  {
    breaks: 'objects-owned',
    how: 'writes into another namespace',
    says: 'v1 ConfigMap train-far is of another namespace',
    preparation: making((gang) =>
      made('ConfigMap', { ...gang, namespace: 'kube-system' }, `${gang.name}-far`),
    ),
  },
  {
    breaks: 'objects-owned',
    how: 'says itself who owns it',
    says: 'v1 ConfigMap train-own names an owner',
    preparation: making((gang) => {
      const object = made('ConfigMap', gang, `${gang.name}-own`);
      return { ...object, metadata: { ...(object['metadata'] as JsonObject), ownerReferences: [] } };
    }),
  },
  {
    breaks: 'objects-apart',
    how: 'has one for all',
    says: 'v1 ConfigMap greetings is made for train and train-worker',
    preparation: making((gang) => made('ConfigMap', gang, 'greetings')),
  },
  {
    breaks: 'objects-apart',
    how: 'makes one twice',
    says: 'v1 Secret train-seal is made for train twice',
    preparation: making((gang) => made('Secret', gang, `${gang.name}-seal`)),
  },
];
