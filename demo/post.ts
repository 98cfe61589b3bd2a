import { request } from 'node:https';
import type { Serving } from './serving.ts';

/** Asks the program under show over TLS, as an API server does. @throws Error with the body of any other answer than 200 */
export const post = (serving: Serving, path: string, body: unknown): Promise<string> =>
  new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port: serving.port,
        path,
        method: 'POST',
        ca: serving.ca,
        servername: 'localhost',
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(text));
        });
      },
    );
    call.once('error', reject).setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
