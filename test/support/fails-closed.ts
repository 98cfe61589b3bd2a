/** Who is asked about what, and what becomes of it where there is no answer: made from the manifests. */
import { globSync, readFileSync } from 'node:fs';
import { parseAllDocuments, parse } from 'yaml';
import type { Made } from './made-documents.ts';

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Rule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
}

interface Asked {
  readonly name: string;
  readonly rules: readonly Rule[];
  readonly objectSelector?: { readonly matchExpressions?: readonly Requirement[] };
  readonly failurePolicy: string;
  readonly matchConditions?: readonly { readonly name: string }[];
}

interface Document {
  readonly kind: string;
  readonly metadata?: { readonly name: string };
  readonly webhooks?: readonly Asked[];
  readonly patches?: readonly { readonly target?: { readonly kind: string }; readonly patch?: string }[];
  readonly spec?: {
    readonly failurePolicy: string;
    readonly matchConditions?: Asked['matchConditions'];
    readonly matchConstraints: {
      readonly resourceRules: readonly Rule[];
      readonly objectSelector?: Asked['objectSelector'];
    };
  };
}

interface Row extends Asked {
  readonly file: string;
  /** Of a webhook configuration or a policy. */
  readonly kind: string;
}

const documents = (): { readonly file: string; readonly document: Document }[] =>
  globSync('manifests/**/*.yaml')
    .toSorted()
    .flatMap((file) =>
      parseAllDocuments(readFileSync(file, 'utf8')).map((one) => ({
        file,
        document: one.toJS() as Document,
      })),
    )
    .filter(({ document }) => document !== null);

const isAdmission = (kind: string): boolean => /^(Mutating|Validating)WebhookConfiguration$/.test(kind);

/** Those of a component are patched into the configuration of the base. */
const webhooksIn = ({ kind, webhooks = [], patches = [] }: Document): { kind: string; webhook: Asked }[] => [
  ...(isAdmission(kind) ? webhooks.map((webhook) => ({ kind, webhook })) : []),
  ...patches.flatMap(({ target, patch }) => {
    if (target === undefined || !isAdmission(target.kind) || patch === undefined) return [];
    const operations = parse(patch) as readonly { readonly path: string; readonly value: Asked }[];
    return operations.flatMap(({ path, value }) =>
      path === '/webhooks/-' ? [{ kind: target.kind, webhook: value }] : [],
    );
  }),
];

const webhooks = (): Row[] =>
  documents().flatMap(({ file, document }) =>
    webhooksIn(document).map(({ kind, webhook }) => ({ ...webhook, file, kind })),
  );

const policies = (): Row[] =>
  documents().flatMap(({ file, document: { kind, metadata, spec } }) =>
    /^(Validating|Mutating)AdmissionPolicy$/.test(kind) && spec !== undefined
      ? [
          {
            ...{ file, kind, name: metadata?.name ?? '', failurePolicy: spec.failurePolicy },
            rules: spec.matchConstraints.resourceRules,
            ...(spec.matchConditions && { matchConditions: spec.matchConditions }),
            ...(spec.matchConstraints.objectSelector && {
              objectSelector: spec.matchConstraints.objectSelector,
            }),
          },
        ]
      : [],
  );

const OWN_GROUPS = ['', 'scheduler.grove.io', 'muster.dev'];
const code = (text: string): string => `\`${text}\``;

const resourcesOf = (rules: readonly Rule[]): string => {
  const byOperations = Map.groupBy(rules, ({ operations }) => operations.join(', '));
  return [...byOperations]
    .map(([operations, some]) => {
      const byGroup = Map.groupBy(some, ({ apiGroups: [group = ''] }) => group);
      const named = [...byGroup].map(([group, rules]) => {
        const resources = [...new Set(rules.flatMap((rule) => rule.resources))].map(code).join(', ');
        return OWN_GROUPS.includes(group) ? resources : `${resources} of ${code(group)}`;
      });
      return `${operations} of ${named.join(', ')}`;
    })
    .join('; ');
};

const onlyWith = ({ objectSelector }: Row): string =>
  (objectSelector?.matchExpressions ?? [])
    .map(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return `with ${code(key)}`;
      if (operator === 'DoesNotExist') return `without ${code(key)}`;
      return `${code(key)} ${operator} ${values.map(code).join(', ')}`;
    })
    .join(', ');

/** By the names of the conditions, which say it. */
const onlyWhere = ({ matchConditions = [] }: Row): string =>
  matchConditions.length === 0 ? '' : `(${matchConditions.map(({ name }) => code(name)).join(', ')})`;

const askedAbout = (row: Row): string =>
  [resourcesOf(row.rules), onlyWith(row), onlyWhere(row)].filter(Boolean).join(' ');

const placeOf = ({ file }: Row): string => code(file.split('/').slice(0, -1).join('/'));

const isKarmada = ({ file }: Row): boolean => file.startsWith('manifests/karmada/');

/** For whom somebody on call is asked: only what can be refused. */
function waits(file: string): Made {
  const rows = webhooks().filter((row) => row.failurePolicy === 'Fail');
  const lines = [...Map.groupBy(rows, ({ name }) => name)].map(([name, some]) => {
    const what = [...new Set(some.map(askedAbout))].join('; ');
    const where = some.every(isKarmada) ? ' (in Karmada’s API server, with queues of a fleet)' : '';
    return `- ${code(name)}: ${what}${where}`;
  });
  return { file, between: ['<!-- waits -->\n', '<!-- /waits -->\n'], text: `\n${lines.join('\n')}\n\n` };
}

const table = (rows: readonly (readonly string[])[]): string =>
  rows
    .flatMap((cells, index) => [
      `| ${cells.join(' | ')} |`,
      ...(index === 0 ? [`|${cells.map(() => '---|').join('')}`] : []),
    ])
    .join('\n');

const failsClosed: Made = {
  file: 'docs/manifests.md',
  between: ['<!-- fails-closed -->\n', '<!-- /fails-closed -->\n'],
  text: `\n${table([
    ['Webhook', 'Of', 'Is asked about', 'While Muster is down'],
    ...webhooks().map((row) => [
      `${code(row.name)}, ${row.kind.startsWith('Mutating') ? 'mutating' : 'validating'}`,
      placeOf(row),
      askedAbout(row),
      row.failurePolicy === 'Fail' ? '**refused**' : 'as if there were none',
    ]),
  ])}\n\n${table([
    ['Policy', 'Of', 'Is asked about', 'Where it cannot judge'],
    ...policies().map((row) => [
      code(row.name),
      placeOf(row),
      askedAbout(row),
      row.failurePolicy === 'Fail' ? 'refused' : '**let in**',
    ]),
  ])}\n\n`,
};

export const failsClosedOf = (): Made[] => [
  failsClosed,
  waits('docs/three-in-the-morning.md'),
  waits('docs/operations.md'),
];

/** The kinds that the folder of definitions brings. */
export const definedKinds = (): string[] =>
  documents().flatMap(({ file, document }) =>
    file.startsWith('manifests/crds/') && document.kind === 'CustomResourceDefinition'
      ? [(document as unknown as { spec: { names: { kind: string } } }).spec.names.kind]
      : [],
  );

/** Folders that `kubectl apply -k` or an overlay names. */
export const manifestFolders = (): string[] =>
  globSync('manifests/**/kustomization.yaml').map((file) => file.split('/').slice(0, -1).join('/'));
