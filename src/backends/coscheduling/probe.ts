import { ownObject } from '../../json/json.ts';
import type { BackendFacts, InitContext } from '../cluster.ts';
import type { CoschedulingConfig } from './config.ts';

export const CRD = 'podgroups.scheduling.x-k8s.io';
const VERSION = 'v1alpha1';

/** @throws Error where the cluster has no such PodGroup */
export async function probeCoscheduling(
  { cluster }: InitContext,
  { schedulerName }: Pick<CoschedulingConfig, 'schedulerName'>,
): Promise<BackendFacts> {
  const notices: string[] = [];
  if (cluster === undefined)
    notices.push('no cluster was asked whether it has the PodGroup of scheduler-plugins');
  else {
    const schema = await cluster.crdSchema(CRD, VERSION);
    const spec = ownObject(ownObject(schema, 'properties'), 'spec');
    if (ownObject(ownObject(spec, 'properties'), 'minMember') === undefined) {
      throw new Error(
        `coscheduling backend requires CRD ${CRD} with version ${VERSION} and spec.minMember: install scheduler-plugins and its CRDs`,
      );
    }
  }
  if (schedulerName === 'default-scheduler') {
    notices.push(
      'schedulerName is default-scheduler, which says nothing on a Pod: label gangs and Pods grove.io/scheduler-name=coscheduling, or make coscheduling the default',
    );
  }
  return { version: `scheduling.x-k8s.io/${VERSION}`, ...(notices.length > 0 && { notices }) };
}
