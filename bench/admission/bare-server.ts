// The yardstick: the least that a webhook on Node has to do. It collects the body, parses the JSON, and answers a
// patch that was worked out beforehand, with the uid of the review. No routes, no limits, no deadline, no log.
//
// Usage: node bench/admission/bare-server.ts --cert-dir DIR --port N [--patch FILE]
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { answerWith, INTERPRET } from './interpretations.ts';
import { fixedPatch } from './reviews.ts';

const { values } = parseArgs({
  options: { 'cert-dir': { type: 'string' }, port: { type: 'string' }, patch: { type: 'string' } },
});
const certDir = values['cert-dir'] ?? '.';

const text = values.patch === undefined ? JSON.stringify(fixedPatch) : readFileSync(values.patch);
const patch = Buffer.from(text).toString('base64');

const server = createServer(
  {
    cert: readFileSync(join(certDir, 'tls.crt')),
    key: readFileSync(join(certDir, 'tls.key')),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    // As Muster's: nothing closes a connection while the load generator pauses between two rounds.
    keepAliveTimeout: 120_000,
  },
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { request: { uid: string } };
      const answer = JSON.stringify(
        request.url?.startsWith(INTERPRET)
          ? answerWith(review.request.uid)
          : {
              apiVersion: 'admission.k8s.io/v1',
              kind: 'AdmissionReview',
              response: { uid: review.request.uid, allowed: true, patchType: 'JSONPatch', patch },
            },
      );
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    });
  },
);
server.listen(Number(values.port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
