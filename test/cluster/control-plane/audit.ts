import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * How much of every request the audit log keeps; see the audit.k8s.io/v1 levels. From `Metadata` on the log names the
 * webhooks that changed an object; only `Request` and above hold their patches and the bodies.
 */
export type AuditLevel = 'Metadata' | 'Request' | 'RequestResponse';

/** Writes a policy that logs every request once, when it is complete, and names the files for the API server. */
export async function writeAuditPolicy(
  dir: string,
  level: AuditLevel,
): Promise<{ policyFile: string; logFile: string }> {
  const policyFile = join(dir, 'audit-policy.json');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    omitManagedFields: true,
    rules: [{ level }],
  };
  await writeFile(policyFile, JSON.stringify(policy));
  return { policyFile, logFile: join(dir, 'audit.log') };
}
