import { observeEvent } from '../../support/observed.ts';
import type { KubeList } from '../control-plane/client.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** Notes the reasons of what Muster has said in Events, before the cluster that holds them is gone. */
export async function observeEventsOf({ client }: ControlPlane): Promise<void> {
  try {
    const path = '/apis/events.k8s.io/v1/events';
    const { items } = await client.ok<KubeList<{ reason: string; reportingController: string }>>('GET', path);
    for (const { reason, reportingController } of items)
      if (reportingController === 'muster') observeEvent(reason);
  } catch {
    // The API server is down, as that test has it.
  }
}
