import { FLUX } from './names.ts';
import type { FluxSettings } from './settings.ts';
import { hostList, type HostGroup } from '../hosts/hosts.ts';

/** What the brokers of a gang are called, and by which DNS domain they find each other. */
export interface Brokers {
  readonly groups: readonly HostGroup[];
  /** `<subdomain>.<namespace>.svc.<cluster domain>` */
  readonly domain: string;
}

/**
 * The configuration of every broker of a gang. All that is put into it was checked for characters that mean something in
 * TOML; the entrypoint replaces the lines `default_bind` and `queue-policy` where a Pod's environment says so.
 */
export const brokerConfig = (
  { networkDevice, queuePolicy }: FluxSettings,
  { groups, domain }: Brokers,
): string => `[access]
allow-guest-user = true
allow-root-owner = true

[resource]
path = "/mnt/flux/config/etc/flux/system/R"

[bootstrap]
curve_cert = "/mnt/flux/config/etc/curve/curve.cert"
default_port = ${FLUX.port}
default_bind = "tcp://${networkDevice}:%p"
default_connect = "tcp://%h.${domain}:%p"
hosts = [
${groups.map((group) => `  { host = "${hostList(group)}" },`).join('\n')}
]

[archive]
dbpath = "/mnt/flux/config/var/lib/flux/job-archive.sqlite"
period = "1m"
busytimeout = "50s"

[sched-fluxion-qmanager]
queue-policy = "${queuePolicy}"
`;
