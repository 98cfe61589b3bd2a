import { isDnsSubdomain } from '../k8s/name-syntax.ts';
import { isObject, own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { LABEL_POD_GANG } from '../api/names.ts';
import { printable } from '../text/printable.ts';
import type { PatchSurface } from '../preparers/preparer.ts';
import { decodeSurface, undecodable } from './decode.ts';

/** Facts that a preparation's module states once, when it is loaded. */
export interface PreparationFacts {
  readonly name: string;
  readonly contractVersion: number;
  readonly patchSurface: PatchSurface;
}

/** Decodes these facts. @throws Error that names the wrong part */
export function decodePreparationFacts(value: Json): PreparationFacts {
  const [name, contractVersion] = [ownString(value, 'name'), own(value, 'contractVersion')];
  if (name === undefined || typeof contractVersion !== 'number')
    throw undecodable('a preparation without name and contractVersion');
  const surface = decodeSurface(own(value, 'patchSurface'), 'preparation');
  // Only a backend may set the fields by which a Pod names its scheduler, whatever the module declares.
  const notItsOwn = { schedulerName: false, schedulingGroup: false, workloadRef: false };
  return { name, contractVersion, patchSurface: { ...surface, ...notItsOwn } };
}

/** Objects of one gang; no manager needs as many. */
const MOST_OBJECTS = 32;
/** Kinds that Muster's account may create for a gang. */
const KINDS = ['ConfigMap', 'Secret', 'Service'];

/** Decodes the objects for a gang; Muster sets their owner. @throws Error that names the wrong part */
export function decodeObjects(
  value: Json,
  gang: { readonly namespace: string; readonly name: string },
): JsonObject[] {
  const { namespace } = gang;
  if (!Array.isArray(value)) throw undecodable('objects that are no list');
  if (value.length > MOST_OBJECTS) throw undecodable(`more than ${MOST_OBJECTS} objects for one gang`);
  return (value as readonly Json[]).map((object) => {
    if (!isObject(object)) throw undecodable('an object that is none');
    const kind = ownString(object, 'kind') ?? '';
    const metadata = ownObject(object, 'metadata');
    const name = ownString(metadata, 'name') ?? '';
    if (own(object, 'apiVersion') !== 'v1' || !KINDS.includes(kind))
      throw undecodable(
        `an object of kind ${printable(kind, 64)}: v1 ${KINDS.join(', ')} may be made for a gang`,
      );
    if (!isDnsSubdomain(name)) throw undecodable(`a ${kind} without a name`);
    if ((ownString(metadata, 'namespace') ?? namespace) !== namespace)
      throw undecodable(`${kind} ${name} of another namespace than the gang's`);
    if (kind === 'Service') checkService(object, gang.name);
    // The right to create PodGangs must not amount to the right to create tokens or credentials of other types.
    if (kind === 'Secret' && ![undefined, 'Opaque'].includes(ownString(object, 'type')))
      throw undecodable(`Secret ${name} of a type other than Opaque`);
    return object;
  });
}

/**
 * The right to create PodGangs must not amount to the right to open a port to other Pods: a gang's Service is headless and
 * selects the gang's own Pods.
 */
function checkService(service: JsonObject, gang: string): void {
  const spec = ownObject(service, 'spec');
  const others = Object.keys(spec ?? {}).filter((key) => !SERVICE_FIELDS.has(key));
  const selects = own(ownObject(spec, 'selector'), LABEL_POD_GANG) === gang;
  if (own(spec, 'clusterIP') !== 'None' || !selects || others.length > 0)
    throw undecodable(
      `a Service that is more than headless with the selector ${LABEL_POD_GANG}: ${printable(gang, 64)}${others.length === 0 ? '' : `: ${printable(others.join(', '), 64)}`}`,
    );
}

const SERVICE_FIELDS: ReadonlySet<string> = new Set([
  'clusterIP',
  'ports',
  'publishNotReadyAddresses',
  'selector',
]);
