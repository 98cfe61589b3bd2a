import type { JsonObject } from '../../json/json.ts';
import { objectName } from '../../k8s/resource.ts';
import { componentOf } from './control-plane-program.ts';
import { saying, type Diagnosis } from './diagnosis.ts';
import { valueOf, type Read } from './read.ts';

export interface Callers {
  /** Whether Muster asks whoever calls it for a client certificate. */
  readonly asked: boolean;
  /** Pods of the control plane, by the label that kubeadm gives its static Pods. */
  readonly pods: Read<readonly JsonObject[]>;
}

/**
 * Whoever reaches Muster's port may send it reviews unless it asks for the API server's client certificate, which only those who
 * run their API server themselves can give it. Where nobody sees how that runs, nothing is said.
 */
export function checkCallers({ asked, pods }: Callers): Diagnosis[] {
  const server = (valueOf(pods) ?? []).find((pod) => componentOf(pod) === 'kube-apiserver');
  if (server === undefined) return [];
  const say = saying('program', 'callers');
  if (asked) return [say.ok('reviews are taken from the API server alone, by its client certificate')];
  return [
    say.warning(
      `Muster asks nobody for a client certificate, so that whoever reaches its port may send it reviews, and this cluster could have it do so: its API server runs as Pod ${objectName(server)}`,
      'add manifests/components/client-certificate, and give the API server its certificate as docs/certificates.md has it',
    ),
  ];
}
