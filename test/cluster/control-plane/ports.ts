import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

/**
 * Where free ports are looked for. Below the range from which Linux and macOS take the local port of an outgoing
 * connection: a port from that range can be taken by any client between the moment it was found free and the moment
 * the server binds it, and again while the API server restarts.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

const handedOut = new Set<number>();

/**
 * `count` TCP ports on 127.0.0.1 that nothing listens on now and that this process has not handed out before.
 * Another process may still be quicker; whoever starts a server must be ready to try again with other ports.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries > 1_000) throw new Error(`no free TCP port on 127.0.0.1 between ${LOWEST} and ${HIGHEST}`);
    const port = randomInt(LOWEST, HIGHEST);
    if (handedOut.has(port) || !(await canListen(port))) continue;
    handedOut.add(port);
    ports.push(port);
  }
  return ports;
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
