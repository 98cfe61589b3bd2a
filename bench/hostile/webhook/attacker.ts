// Whoever attacks, a process of its own: begins and ends one attack when told to.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ATTACKS } from './attacks.ts';
import { Crowd } from './crowd.ts';
import type { Job, Order } from './messages.ts';

const { port, caFile, attack: id } = JSON.parse(process.argv[2] ?? '') as Job;
const attack = ATTACKS.find((one) => one.id === id);
if (attack === undefined) throw new Error(`${String(id)}: no such attack`);
const secureContext = createSecureContext({ ca: readFileSync(caFile), minVersion: 'TLSv1.3' });
let crowd: Crowd | undefined;

process.on('message', (order: Order) => {
  if (order === 'begin') {
    crowd = new Crowd({ port, secureContext, ...attack.crowd });
    void crowd.there.then(() => process.send?.('begun'));
  } else void crowd?.end().then((came) => process.send?.(came));
});
