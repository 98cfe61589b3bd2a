import { get } from 'node:http';

/** One GET on loopback, on a connection of its own: nothing of it is left behind when the server is gone. */
export const httpGet = (port: number, path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      );
      response.on('error', reject);
    }).on('error', reject);
  });
