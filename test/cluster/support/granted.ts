import { MUSTER_USER } from '../../../src/api/names.ts';
import { manifestsIn, type KubernetesObject } from '../../support/manifests.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { requestsOf } from './audited.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** `verb resource.group/subresource`, and the name where a rule names one: as the audit log has it. */
export const rightsIn = (objects: readonly KubernetesObject[]): string[] =>
  (objects as unknown as readonly { kind: string; rules?: readonly Rule[] }[])
    .filter(({ kind }) => kind.endsWith('Role'))
    .flatMap(({ rules = [] }) => rules)
    .flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
      apiGroups.flatMap((apiGroup) =>
        resources.flatMap((resource) => {
          const [plural = '', subresource = ''] = resource.split('/');
          const kind = [plural, apiGroup].filter(Boolean).join('.');
          const what = [kind, subresource].filter(Boolean).join('/');
          return verbs.flatMap((verb) => resourceNames.map((name) => `${verb} ${what} ${name}`.trim()));
        }),
      ),
    );

/**
 * Whether Muster's account has made use of each of these rights by now. A list that is streamed takes the right to watch alone;
 * where an API server does not stream, it takes the right to list.
 * @throws where not, with those that are left
 */
export async function allUsed(plane: ControlPlane, granted: readonly string[]): Promise<boolean> {
  const used = new Set(
    (await requestsOf(plane, MUSTER_USER)).flatMap(({ verb, lists, resource, name }) => [
      `${verb} ${resource}`,
      `${verb} ${resource} ${name}`,
      ...(lists ? [`list ${resource}`] : []),
    ]),
  );
  const unused = granted.filter((right) => !used.has(right));
  if (unused.length > 0) throw new Error(`granted and not used: ${unused.join(', ')}`);
  return granted.length > 0;
}

/**
 * Waits until each right of a folder of `manifests/` has been used. Call it once Muster has ended: the log has a watch only
 * then.
 * @param elsewhere rights that another test uses
 */
export async function untilEachIsUsed(
  plane: ControlPlane,
  folder: string,
  elsewhere: (right: string) => boolean = () => false,
): Promise<void> {
  const granted = rightsIn(await manifestsIn(folder));
  await until(`each right of ${folder} is used`, () =>
    allUsed(
      plane,
      granted.filter((right) => !elsewhere(right)),
    ),
  );
}
