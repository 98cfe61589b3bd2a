export type FaultKind = 'Required' | 'Invalid' | 'NotSupported' | 'Duplicate' | 'Forbidden' | 'TooLong';

/**
 * A rule by which Muster refuses an object. `code` is the HTTP code of the refusal: 422 where the object is wrong, 403 where
 * this account, or any account at this moment, may not write it. `says` is the rule, `fix` the way out.
 */
export interface Rule {
  readonly code: 403 | 422;
  readonly kind: FaultKind;
  readonly says: string;
  readonly fix: string;
}
