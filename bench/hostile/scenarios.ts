import type { Scenario } from './scenario.ts';
import { besideFlood } from './loop/beside-flood.ts';
import { FLOODS } from './loop/floods.ts';
import { ATTACKS } from './webhook/attacks.ts';
import { besideAttack } from './webhook/beside-attack.ts';

/** All of them. One of another kind is a file with a {@link Scenario}, and a line here. */
export const SCENARIOS: readonly Scenario[] = [...ATTACKS.map(besideAttack), ...FLOODS.map(besideFlood)];
