import { configurations } from './configurations.ts';
import { kubeconfigs } from './kubeconfigs.ts';
import { podGangs } from './pod-gangs.ts';
import { reviews } from './reviews.ts';
import type { Target } from './target.ts';

export const targets: readonly Target[] = [reviews, podGangs, configurations, kubeconfigs];
