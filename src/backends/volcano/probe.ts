import { ownObject, type JsonObject } from '../../json/json.ts';
import type { BackendFacts, InitContext } from '../cluster.ts';

export const CRD = 'podgroups.scheduling.volcano.sh';
const VERSION = 'v1beta1';
const REQUIRES = 'volcano scheduler backend requires Volcano 1.14 or newer with PodGroup.spec.subGroupPolicy';
/** What every policy needs: the API server prunes what it does not know, and the gang would start broken. */
const POLICY_FIELDS = ['labelSelector', 'matchLabelKeys', 'subGroupSize', 'minSubGroups'] as const;

/** @throws Error where the cluster's PodGroup cannot keep groups apart */
export async function probeVolcano({ cluster }: InitContext): Promise<BackendFacts> {
  const version = `scheduling.volcano.sh/${VERSION}`;
  if (cluster === undefined) {
    return { version, notices: ['no cluster was asked whether its Volcano is 1.14 or newer'] };
  }
  const schema = await cluster.crdSchema(CRD, VERSION);
  if (schema === undefined) {
    throw new Error(`failed to get CRD ${CRD} with version ${VERSION}: ${REQUIRES}; install it`);
  }
  const lacking = lackingFields(schema);
  if (lacking.length > 0) {
    throw new Error(
      `${REQUIRES}; CRD ${CRD} ${VERSION} lacks ${lacking.join(', ')}: upgrade Volcano and its CRDs`,
    );
  }
  return { version };
}

function lackingFields(schema: JsonObject): string[] {
  const spec = ownObject(ownObject(schema, 'properties'), 'spec');
  const policy = ownObject(ownObject(spec, 'properties'), 'subGroupPolicy');
  if (policy === undefined) return ['spec.subGroupPolicy'];
  const fields = ownObject(ownObject(policy, 'items'), 'properties');
  return POLICY_FIELDS.filter((field) => ownObject(fields, field) === undefined).map(
    (field) => `spec.subGroupPolicy[].${field}`,
  );
}
