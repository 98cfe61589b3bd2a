import { fault, type Fault } from '../../api/fault.ts';
import { isObject, own, ownList } from '../../json/json.ts';
import type { FluxSettings } from './settings.ts';
import type { Runner } from './runner.ts';

/** What device plugins call RDMA: `rdma/hca_shared_devices_a`, `vpc.amazonaws.com/efa`, `nvidia.com/hostdev`. */
const RDMA = /rdma|infiniband|roce|\/efa$|hca|hostdev|mlnx/i;

/** A program that is to talk over RDMA has a device for it; else it would quietly talk over the slow network. */
export function checkRdma({ container, path }: Runner, { network }: FluxSettings): Fault[] {
  if (network !== 'rdma') return [];
  const resources = own(container, 'resources');
  const asked = ['limits', 'requests'].flatMap((part) => {
    const amounts = own(resources, part);
    return isObject(amounts) ? Object.keys(amounts) : [];
  });
  // A claim may be of anything: its class is not known here.
  const claims = ownList(resources, 'claims') ?? [];
  return claims.length > 0 || asked.some((name) => RDMA.test(name))
    ? []
    : [fault('HpcRdmaRequired', `${path}.resources.limits`)];
}
