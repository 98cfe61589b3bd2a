import type { Json } from '../../../json/json.ts';
import { same, type Difference } from './differences.ts';
import type { KindOfObject, Weight } from './judgement.ts';

/** More than is wanted, of a list: a warning; less, or something else: a problem. */
const moreIsLess = ({ wanted, found }: Difference): Weight =>
  wanted === undefined || (found !== undefined && holdsAll(wanted, found)) ? 'warning' : 'problem';

const holdsAll = (wanted: Json, found: Json): boolean =>
  Array.isArray(wanted) &&
  Array.isArray(found) &&
  wanted.every((one) => found.some((other) => same(one as Json, other as Json)));

const RBAC: Pick<KindOfObject, 'group' | 'strict' | 'inCluster' | 'why'> = {
  group: 'rights',
  strict: true,
  inCluster: true,
  why: 'Muster’s account, or whoever has it, may do something else than it would be allowed',
};
export const ROLE: KindOfObject = {
  ...RBAC,
  check: 'roles',
  missing: 'Muster’s account lacks these rights',
  rows: [
    { field: /^aggregationRule/, weight: 'problem' },
    { field: /^rules/, weight: moreIsLess },
  ],
};
export const BINDING: KindOfObject = {
  ...RBAC,
  check: 'bindings',
  missing: 'nobody has the rights of its role',
  rows: [{ field: /^subjects/, weight: moreIsLess }],
};
