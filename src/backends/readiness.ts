import type { BackendFacts } from './cluster.ts';

/** What is known of a backend: nothing yet, that it works here, or why it does not. */
export type Readiness =
  | { readonly state: 'unknown' }
  | { readonly state: 'ready'; readonly facts: BackendFacts }
  | { readonly state: 'failed'; readonly reason: string };

export const NOT_ASKED: Readiness = { state: 'unknown' };
