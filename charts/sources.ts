import { globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { readKustomization, type PatchTarget } from '../src/cli/doctor/installed/kustomize.ts';

const manifests = join(import.meta.dirname, '..', 'manifests');

/** An operation of a component's or an overlay's patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** A patch, which holds under a condition. */
export interface ConditionalPatch {
  /** For messages: the folder that brings it. */
  readonly of: string;
  /** A Helm expression. */
  readonly condition: string;
  readonly target: PatchTarget;
  /** undefined: the object is left out. */
  readonly operations: readonly PatchOperation[] | undefined;
}

/** A file of manifests/, which becomes a template of the same objects. */
export interface ManifestFile {
  /** In manifests/. */
  readonly path: string;
  readonly template: string;
  /** A Helm expression; undefined where the objects are always there. */
  readonly condition: string | undefined;
}

const NOT_MUTATING = 'not (include "muster.mutatingPolicies" .)';
const camel = (name: string): string =>
  name.replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** The components that are switches of `components` in the values. */
export const switchOf = (folder: string): string => camel(basename(folder));

const MADE_OF_BACKEND = "Made from the backend's folder";

/** Components that a value other than their own switch turns on. */
const VALUES: Readonly<Record<string, string>> = {
  'components/in-cluster-certificates': '(eq .Values.certificates.mode "inCluster")',
};

function conditionOf(folder: string): string {
  const value = VALUES[folder];
  if (value !== undefined) return value;
  const text = readFileSync(join(manifests, folder, 'kustomization.yaml'), 'utf8');
  return text.includes(MADE_OF_BACKEND)
    ? `include "muster.hasBackend" (list . "${basename(folder)}")`
    : `.Values.components.${switchOf(folder)}.enabled`;
}

const componentFolders = (): readonly string[] => [
  ...readdirSync(join(manifests, 'components'))
    .sort()
    // What it brings are several values, `monitoring`.
    .filter((name) => name !== 'monitoring')
    .map((name) => `components/${name}`),
  'on-call',
];

/** Folders whose objects or patches the values turn on, and with which condition. */
export const conditionalFolders = (): readonly (readonly [folder: string, condition: string])[] =>
  componentFolders().map((folder) => [folder, conditionOf(folder)] as const);

/** The switches in the values: components but for those that come with a backend's profile. */
export const switches = (): readonly string[] =>
  conditionalFolders().flatMap(([folder, condition]) =>
    !condition.startsWith('.Values.components.') ? [] : [switchOf(folder)],
  );

/** Objects for which the base, the definitions or an overlay have a value of their own. */
const CONDITIONS: Readonly<Record<string, string>> = {
  'base/namespace.yaml': '.Values.namespace.create',
  'base/networkpolicy.yaml': '.Values.networkPolicy.enabled',
  'base/resourcequota.yaml': 'and .Values.resourceQuota.enabled .Values.priorityClassName',
  'base/poddisruptionbudget.yaml': '.Values.podDisruptionBudget.enabled',
  'components/dashboard/networkpolicy.yaml':
    'and .Values.components.dashboard.enabled .Values.networkPolicy.enabled',
  'components/monitoring/podmonitor.yaml': '.Values.monitoring.podMonitor.enabled',
  'components/monitoring/prometheusrule.yaml': '.Values.monitoring.prometheusRule.enabled',
};

const resourcesOf = (folder: string): readonly string[] =>
  (readKustomization(join(manifests, folder)).resources ?? [])
    .filter((name) => !name.startsWith('..'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(join(manifests, path)).isFile());

export function manifestFiles(): readonly ManifestFile[] {
  const of = (folder: string, under: string, condition?: string): readonly ManifestFile[] =>
    resourcesOf(folder).map((path) => {
      const own = CONDITIONS[path] ?? condition;
      return { path, template: `${under}${basename(path)}`, condition: own };
    });
  return [
    ...of('base', ''),
    ...of('crds', 'crds/', '.Values.crds.install'),
    ...of('policies', 'policies/'),
    ...of('components/monitoring', 'monitoring/'),
    ...of('overlays/cert-manager', '', 'eq .Values.certificates.mode "certManager"'),
    ...conditionalFolders().flatMap(([folder, condition]) =>
      of(folder, '', condition).map((file, index) => ({
        ...file,
        template: `components/${basename(folder)}${index === 0 ? '' : `-${basename(file.path, '.yaml')}`}.yaml`,
      })),
    ),
  ];
}

/** The patches of the components and of the overlays for older clusters and beside Grove. */
export function conditionalPatches(): readonly ConditionalPatch[] {
  const folders = [
    ...conditionalFolders(),
    ['overlays/kubernetes-1.35', NOT_MUTATING] as const,
    ['overlays/beside-grove', '.Values.components.groveOperator.enabled'] as const,
  ];
  return folders.flatMap(([of, condition]) =>
    (readKustomization(join(manifests, of)).patches ?? []).flatMap(
      ({ target, patch }): ConditionalPatch[] => {
        const parsed = parse(patch) as
          | readonly PatchOperation[]
          | { readonly $patch: string; readonly kind: string; readonly metadata: { readonly name: string } };
        if ('$patch' in parsed) {
          // What another value of certificates.mode brings has its condition already.
          if (of in VALUES) return [];
          const deleted = { kind: parsed.kind, name: parsed.metadata.name };
          return [{ of, condition, target: deleted, operations: undefined }];
        }
        if (target === undefined) throw new Error(`${of}: a patch without a target`);
        return [{ of, condition, target, operations: parsed }];
      },
    ),
  );
}

export const readManifest = (path: string): string => readFileSync(join(manifests, path), 'utf8');

/** Grafana's dashboards, which Helm reads from a folder of the chart. */
export const dashboards = (): readonly (readonly [name: string, text: string])[] =>
  globSync('../monitoring/dashboards/*.json', { cwd: manifests })
    .sort()
    .map((path) => [basename(path), readManifest(path)] as const);
