import { messageOf, MusterError } from '../../errors.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { ServingPair } from '../../tls/check.ts';
import type { Reading } from './certificate-store.ts';

const COMPONENT = 'apply manifests/components/in-cluster-certificates';

/** What keeps certificates from being kept, each with the way out, for the log and for readiness. */
export function problemsOf({ secret, stored, missing }: Reading, secretName: string): readonly string[] {
  return [
    ...(secret === undefined ? [`there is no Secret ${secretName}: ${COMPONENT}, in which it is empty`] : []),
    ...missing.map((name) => `there is no ${name}: apply manifests/base`),
    ...stored.configurations.flatMap(({ name, injector }) =>
      injector === undefined
        ? []
        : [
            `${name} has the annotation ${injector}, by which cert-manager writes its caBundles: take it off, or set server.certificates.mode to files`,
          ],
    ),
  ];
}

/** An error of the API server with its way out. */
export const reasonFor = (error: unknown): string =>
  error instanceof MusterError
    ? `${error.message}: ${error.fix}`
    : `${messageOf(error)}${isForbidden(error) ? `: ${COMPONENT}, which has the rights` : ''}`;

/** What is wrong now, logged once as long as it is the same. */
export class CertificateProblems {
  /** undefined: nothing. */
  text: string | undefined;
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  report(problems: readonly string[], serving: ServingPair | undefined): void {
    const text = problems.length === 0 ? undefined : problems.join('; ');
    if (text === this.text) return;
    this.text = text;
    const kept = serving && { serial: serving.serial, notAfter: serving.notAfter.toISOString() };
    if (text !== undefined)
      this.#log.warn({ reason: text, kept }, 'certificates in the cluster cannot be kept');
    else this.#log.info({ kept }, 'certificates in the cluster are kept again');
  }
}
