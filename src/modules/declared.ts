import { printable } from '../text/printable.ts';
import type { Resource } from '../k8s/resource.ts';
import type { DeclaredRight } from './heard.ts';

/** What a module says that it needs: the rights of its factory, and the kinds that it keeps. */
export interface Declared {
  readonly rights: readonly DeclaredRight[];
  readonly owns: readonly Resource[];
}

/** Where the API server says what it serves. */
const DISCOVERY = /^\/(?:version|apis?|api\/[^/]+|apis\/[^/]+(?:\/[^/]+)?)\/?$/;
const OBJECTS =
  /^\/(?:api|apis\/(?<group>[^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/)?(?<plural>[^/]+)(?:\/(?<name>[^/]+)(?<below>\/.+)?)?\/?$/;

/**
 * Holds a module to what it declares: Muster's account may read more, such as every Pod. A Secret is nobody's to read.
 * @throws Error that says what is to be declared
 */
export function checkRead(path: string, declared: Declared): void {
  const [place = ''] = path.split('?');
  if (DISCOVERY.test(place)) return;
  const found = OBJECTS.exec(place)?.groups;
  if (found === undefined) throw undeclared(path, 'no path of objects');
  const { group = '', plural = '', name, below } = found;
  const resource = below === undefined ? plural : `${plural}${below}`;
  if (group === '' && plural === 'secrets') throw undeclared(path, 'Secrets are read for no module');
  const verb = name === undefined ? 'list' : 'get';
  const isOwn = declared.owns.some((kind) => kind.group === group && kind.plural === resource);
  if (isOwn || allows(declared.rights, { group, resource, verb, name })) return;
  throw undeclared(path, `declare it in its factory's rights, with the verb ${verb}`);
}

/** The same of an object that it makes, changes or takes away. @throws Error that says what is to be declared */
export function checkKept({ group, plural }: Resource, declared: Declared): void {
  const isOwn = declared.owns.some((kind) => kind.group === group && kind.plural === plural);
  const right = { group, resource: plural, verb: 'create', name: undefined };
  if (isOwn || allows(declared.rights, right)) return;
  throw undeclared(
    `${plural}.${group || 'core'}`,
    "name its kind in owns(), or declare it in its factory's rights with the verb create",
  );
}

const allows = (
  rights: readonly DeclaredRight[],
  right: { group: string; resource: string; verb: string; name: string | undefined },
): boolean =>
  rights.some(
    ({ group, resources, verbs, names }) =>
      group === right.group &&
      resources.includes(right.resource) &&
      verbs.includes(right.verb) &&
      (names === undefined || (right.name !== undefined && names.includes(right.name))),
  );

const undeclared = (what: string, way: string): Error =>
  new Error(`the module asked for ${printable(what, 128)}, which it does not declare: ${way}`);
