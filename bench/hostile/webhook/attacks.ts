import type { Attack } from './attack.ts';
import { announcedBytes } from './attacks/announced-bytes.ts';
import { churn } from './attacks/churn.ts';
import { deepJson } from './attacks/deep-json.ts';
import { halfHandshakes } from './attacks/half-handshakes.ts';
import { headers } from './attacks/headers.ts';
import { idleConnections } from './attacks/idle-connections.ts';
import { largePods } from './attacks/large-pods.ts';
import { denseJson, manyTokens } from './attacks/many-tokens.ts';
import { reviews } from './attacks/reviews.ts';
import { slowBodies } from './attacks/slow-bodies.ts';

/** What is done to the webhook port. One more is a file and a line. */
export const ATTACKS: readonly Attack[] = [
  idleConnections,
  halfHandshakes,
  slowBodies,
  announcedBytes,
  deepJson,
  manyTokens,
  denseJson,
  headers,
  churn,
  reviews,
  largePods,
];
