import type { Json, JsonObject } from '../../../src/json/json.ts';
import { gangPod, json } from '../../support/pods.ts';
import { review, type RequestParts } from '../../support/reviews.ts';

export {
  PATH_MUTATE_POD as MUTATE_POD,
  PATH_MUTATE_POD_GANG as MUTATE_GANG,
  PATH_VALIDATE_POD as VALIDATE_POD,
  PATH_VALIDATE_POD_GANG as VALIDATE_GANG,
} from '../../../src/api/names.ts';

/** V39: the creation of a gang Pod. */
export const golden = (parts: RequestParts = {}): JsonObject =>
  review('Pod', { object: gangPod(), ...parts });

/** As the API server writes it: one line, `<`, `>` and `&` escaped, a newline at its end. */
export const reviewText = (value: Json): string =>
  `${JSON.stringify(value).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`)}\n`;

/** The golden review with its `request` changed; undefined takes a field away. */
export const goldenWith = (request: Readonly<Record<string, unknown>>): JsonObject => {
  const whole = golden();
  return json({ ...whole, request: { ...(whole['request'] as JsonObject), ...request } });
};

export const goldenText = reviewText(golden());
