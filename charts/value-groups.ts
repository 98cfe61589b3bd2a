import { z } from 'zod';
import { networkPeer, objects } from './kubernetes-schema.ts';

const cidr = z.string().regex(/^[0-9a-fA-F.:]+\/\d{1,3}$/);
export const dnsLabel = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);

export const image = z
  .strictObject({
    registry: z.string().default('').describe('Put before the repository, with a slash.'),
    repository: z.string().min(1).default('muster').describe('The image without its tag.'),
    tag: z.string().default('').describe('Empty: the appVersion of the chart.'),
    digest: z
      .string()
      .regex(/^(sha256:[0-9a-f]{64})?$/)
      .default('')
      .describe('`sha256:…`; it goes before the tag.'),
    pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent').describe('As in a Pod.'),
  })
  .prefault({});

export const certificates = z
  .strictObject({
    mode: z
      .enum(['certManager', 'inCluster', 'secret'])
      .default('inCluster')
      .describe(
        '`inCluster`: Muster makes and renews it itself. `certManager`: cert-manager 1.19 or later does. `secret`: it is in a Secret that you keep (docs/certificates.md).',
      ),
    secretName: z
      .string()
      .min(1)
      .default('muster-serving-cert')
      .describe('Mode `secret`: the Secret with tls.crt and tls.key, for `muster.<namespace>.svc`.'),
    caBundle: z
      .string()
      .regex(/^[A-Za-z0-9+/=]*$/)
      .default('')
      .describe(
        'Mode `secret`: the PEM of the CA that signed it, in base64. Empty: somebody else writes it into the webhooks.',
      ),
    certManager: z
      .strictObject({
        issuerRef: z
          .strictObject({
            name: z.string().min(1),
            kind: z.string().optional(),
            group: z.string().optional(),
          })
          .optional()
          .describe('An issuer of yours, whose certificates come with their CA.'),
      })
      .prefault({})
      .describe('`issuerRef`: an issuer of yours. None: a CA of its own, for ten years.'),
  })
  .prefault({});

/** Where the files of a third party’s module come from. */
export const moduleSource = z.strictObject({
  name: dnsLabel.describe('Mounted at /etc/muster/modules/<name>.'),
  files: z
    .record(z.string(), z.string())
    .optional()
    .describe('Its files, for a ConfigMap that the chart makes.'),
  configMap: z.string().min(1).optional().describe('A ConfigMap of yours.'),
  image: z
    .strictObject({
      reference: z.string().min(1),
      pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
    })
    .optional()
    .describe(
      'An image whose files are mounted (image volumes: Kubernetes 1.35, or the feature gate ImageVolume).',
    ),
});

export const networkPolicy = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Who may reach Muster, and whom it may reach.'),
    callerCIDRs: z
      .array(cidr)
      .default([])
      .describe(
        'API servers and kubelets, the only ones to reach webhooks and probes. Empty: everybody may.',
      ),
    apiServerCIDRs: z
      .array(cidr)
      .default([])
      .describe('API servers, the only ones that Muster may reach. Empty: every address, at these ports:'),
    apiServerPorts: z
      .array(z.int().min(1).max(65535))
      .min(1)
      .default([443, 6443])
      .describe('Ports of API servers.'),
    metricsFrom: z
      .array(networkPeer)
      .min(1)
      .default([{ namespaceSelector: { matchLabels: { 'muster.dev/metrics': 'allowed' } } }])
      .describe('Who may read the metrics: peers of a NetworkPolicy.'),
    extraIngress: objects.default([]).describe('Further rules of `ingress`.'),
    extraEgress: objects.default([]).describe('Further rules of `egress`.'),
  })
  .prefault({});
