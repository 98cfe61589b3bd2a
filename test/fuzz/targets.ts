import { configurations } from './configurations.ts';
import { documents } from './documents.ts';
import { fleets } from './fleets.ts';
import { kubeconfigs } from './kubeconfigs.ts';
import { podGangs } from './pod-gangs.ts';
import { reviews } from './reviews.ts';
import type { Target } from './target.ts';
import { watches } from './watches.ts';

export const targets: readonly Target[] = [
  reviews,
  podGangs,
  configurations,
  kubeconfigs,
  watches,
  documents,
  fleets,
];
