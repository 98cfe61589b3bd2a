import { isIP } from 'node:net';
import { z } from 'zod';
import { isDnsSubdomain } from '../k8s/name-syntax.ts';
import { durationSchema, optionalDuration } from './module-schema.ts';

/** Port 0 lets the operating system choose a free one, for tests. */
const port = () => z.int().min(0).max(65535);

const bindAddress = () =>
  z
    .string()
    .refine((address) => address === '' || isIP(address) !== 0, 'must be an IP address, or empty for all')
    .default('')
    .describe('IP address to listen on. Empty: every address of the Pod, IPv4 and IPv6.');

const count = () => z.int().gt(0);

const clientCertificate = z
  .strictObject({
    caFile: z
      .string()
      .min(1, 'must name a file')
      .describe('PEM file with the CA that signed the API server’s client certificate.'),
    allowedNames: z
      .array(z.string().min(1, 'must not be empty'))
      .min(1, 'must list at least one name')
      .default(['kube-apiserver'])
      .describe('Common names that may call. Default: the name kubeadm gives the API server.'),
  })
  .optional()
  .describe(
    'Ask callers for a certificate and refuse all but these. Absent: anybody who reaches the port may ask.',
  );

const limits = z
  .strictObject({
    maxBodyBytes: count()
      .default(8 * 1024 * 1024)
      .describe(
        'Largest review in bytes; a larger one gets 413. 8 MiB: an object is at most 3 MiB on the wire, a review carries two of them and escaping adds to it.',
      ),
    maxInFlightBytes: count()
      .default(64 * 1024 * 1024)
      .describe(
        'Sum of all bodies held at a time, in bytes. 64 MiB: eight of the largest, within the memory limit.',
      ),
    maxInFlight: count()
      .default(256)
      .describe(
        'Reviews held at a time; beyond it 503 with Retry-After. 256: about 25 ms of work on one core.',
      ),
    maxConnections: count()
      .default(1024)
      .describe(
        'Open sockets. 1024: far above what the API servers of one cluster open, far below a descriptor limit.',
      ),
  })
  .prefault({});

const drain = z
  .strictObject({
    seconds: z
      .number()
      .min(0)
      .default(15)
      .describe(
        'Seconds to go on serving after SIGTERM before the process may end. 15: endpoints reach every API server within that time.',
      ),
    maxSeconds: z
      .number()
      .min(0)
      .default(100)
      .describe(
        'Seconds after SIGTERM at which the process ends whatever is open. 100: an API server keeps an idle connection for 90. Set terminationGracePeriodSeconds above it.',
      ),
  })
  .prefault({});

const webhooks = z
  .strictObject({
    port: port()
      .default(9443)
      .describe('Port of the webhooks. 9443: the usual one; Grove’s own default is 2750.'),
    bindAddress: bindAddress(),
    serverCertDir: z
      .string()
      .min(1, 'must name a directory')
      .default('/etc/muster/certs')
      .describe(
        'Directory with tls.crt and tls.key, reread when they change. The manifests mount the Secret there.',
      ),
    tlsMinVersion: z
      .enum(['1.3', '1.2'])
      .default('1.3')
      .describe('Lowest TLS version offered. 1.3: every API server since 1.19 speaks it.'),
    clientCertificate,
    limits,
    drain,
    secretName: z
      .string()
      .default('grove-webhook-server-cert')
      .describe(
        'Accepted because Grove has it, not used: `server.certificates.secretName` is the Secret of mode inCluster.',
      ),
    certProvisionMode: z
      .enum(['auto', 'manual'])
      .default('auto')
      .describe(
        'Accepted because Grove has it, not used: `server.certificates.mode` says who provides certificates.',
      ),
  })
  .prefault({});

const RENEWAL = 'Absent: a third of its duration, so after two thirds of its life.';

const certificates = z
  .strictObject({
    mode: z
      .enum(['files', 'inCluster'])
      .default('files')
      .describe(
        'files: the certificate is read from server.webhooks.serverCertDir, by whomever it is made. inCluster: Muster makes CA and certificate itself, keeps them in a Secret and in the caBundles of its webhooks, and renews them. It needs manifests/components/in-cluster-certificates.',
      ),
    secretName: z
      .string()
      .refine(isDnsSubdomain, 'must be the name of a Secret')
      .default('muster-certificates')
      .describe('The Secret of mode inCluster, in Muster’s namespace. It has to be there, and may be empty.'),
    leaf: z
      .strictObject({
        duration: durationSchema('2160h', 'How long a serving certificate is valid. 2160h: 90 days.'),
        renewBefore: optionalDuration(
          `How long before its end a serving certificate is replaced. ${RENEWAL}`,
        ),
      })
      .prefault({}),
    ca: z
      .strictObject({
        duration: durationSchema('8760h', 'How long a CA is valid. 8760h: a year.'),
        renewBefore: optionalDuration(`How long before its end the next CA is made. ${RENEWAL}`),
        settle: durationSchema(
          '1m',
          'How long a new CA is in every caBundle before a certificate of it replaces a good one. 1m: API servers read their webhooks by a watch.',
        ),
      })
      .prefault({}),
  })
  .prefault({});

/** `server`: addresses and ports. Grove’s ports 2750–2752 do not apply, see docs/configuration.md. */
export const serverSchema = z
  .strictObject({
    webhooks,
    certificates,
    healthProbes: z
      .strictObject({
        port: port().default(8081).describe('Port of /healthz and /readyz, plain HTTP. 8081: the usual one.'),
        bindAddress: bindAddress(),
        enable: z
          .boolean()
          .default(true)
          .describe('Accepted because Grove’s chart has it, not used: the probes are always served.'),
      })
      .prefault({}),
    metrics: z
      .strictObject({
        port: port().default(8080).describe('Port of /metrics, plain HTTP. 8080: the usual one.'),
        bindAddress: bindAddress(),
      })
      .prefault({}),
  })
  .prefault({});
