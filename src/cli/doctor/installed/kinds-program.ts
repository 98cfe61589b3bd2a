import type { KindOfObject } from './judgement.ts';

/** Fields of a Deployment that are the installer’s choice; their differences are notes. */
const OWN_BUSINESS =
  /^spec\.(replicas|revisionHistoryLimit|strategy|minReadySeconds)|^spec\.template\.spec\.(tolerations|topologySpreadConstraints|nodeSelector|affinity|priorityClassName)|\.(resources|imagePullPolicy|image)($|\.)/;

const PROGRAM: Pick<KindOfObject, 'group' | 'strict' | 'inCluster'> = {
  group: 'program',
  strict: false,
  inCluster: true,
};

/** Kinds of the objects in Muster’s namespace. */
export const PROGRAM_KINDS: Readonly<Record<string, KindOfObject>> = {
  ServiceAccount: {
    ...PROGRAM,
    check: 'account',
    missing: 'no Pod can run under it',
    why: 'each Pod under it gets a token',
    rows: [{ field: /^automountServiceAccountToken$/, weight: 'warning' }],
  },
  Deployment: {
    ...PROGRAM,
    check: 'deployment',
    missing: 'nobody answers the webhooks, and no gang moves',
    why: 'Muster runs otherwise than this version needs it',
    rows: [
      { field: OWN_BUSINESS, weight: 'note' },
      { field: /^spec\.template\.metadata\.annotations/, weight: 'free' },
      // The configuration has checks of its own, and check-mounts.ts looks for what the volumes mount.
      { field: /\.env\[MUSTER_/, weight: 'free' },
      { field: /\.volumes\[(config|certs)\]/, weight: 'free' },
      { field: /\.(securityContext|automountServiceAccountToken|enableServiceLinks)/, weight: 'warning' },
      { field: /Probe(\.|$)/, weight: 'warning' },
      {
        field: /\.terminationGracePeriodSeconds$/,
        weight: ({ wanted, found }) => (Number(found ?? 30) < Number(wanted) ? 'problem' : 'note'),
        why: 'a replica is killed before it has drained, and admissions fail with it',
      },
    ],
  },
  Service: {
    ...PROGRAM,
    check: 'service',
    missing: 'the API server does not find Muster',
    why: 'the API server does not find Muster',
    rows: [{ field: /^spec\.type$/, weight: 'note' }],
  },
  PodDisruptionBudget: {
    ...PROGRAM,
    check: 'budget',
    missing: 'a drain of nodes may take every replica at once, and gangs cannot be created meanwhile',
    why: 'a drain of nodes takes more replicas than it should, or none',
    // check-program.ts compares the number with the replicas of the Deployment.
    rows: [
      { field: /^spec\.(minAvailable|maxUnavailable)$/, weight: 'note' },
      { field: /^spec\.unhealthyPodEvictionPolicy$/, weight: 'warning' },
    ],
  },
  NetworkPolicy: {
    ...PROGRAM,
    check: 'network',
    missing: 'whoever reaches the Pods reaches each of their ports, and they reach everybody',
    why: 'it is not for Muster’s Pods, or not for both directions',
    // check-network.ts checks the ports of all NetworkPolicies together; addresses may be narrowed.
    rows: [{ field: /^spec\.(ingress|egress)/, weight: 'free' }],
  },
  ResourceQuota: {
    ...PROGRAM,
    check: 'quota',
    missing: 'clusters that limit system-cluster-critical refuse Muster’s Pods',
    missingWeight: 'warning',
    why: 'clusters that limit system-cluster-critical may refuse Muster’s Pods',
    rows: [{ field: /./, weight: 'warning' }],
  },
  Namespace: {
    ...PROGRAM,
    check: 'namespace',
    missing: 'nothing of Muster can be there',
    why: '',
    rows: [],
  },
  Issuer: {
    ...PROGRAM,
    group: 'certificate',
    check: 'issuer',
    missing: 'cert-manager does not renew the certificate',
    why: 'cert-manager issues the certificate otherwise',
    rows: [{ field: /./, weight: 'warning' }],
  },
  Certificate: {
    ...PROGRAM,
    group: 'certificate',
    check: 'issuer',
    missing: 'cert-manager does not renew the certificate',
    why: 'cert-manager issues the certificate otherwise',
    rows: [
      { field: /^spec\.(dnsNames|secretName|isCA|issuerRef)/, weight: 'problem' },
      { field: /./, weight: 'note' },
    ],
  },
};
