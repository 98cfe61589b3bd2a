/**
 * Where a kind keeps its Pod templates, as far as paths can say it: for those who have to write it down in another
 * language. A kind whose numbers no path leads to has none.
 */
export type TemplateShape =
  | ({ readonly as: 'list' } & TemplateList)
  | ({ readonly as: 'roles' } & RoleMap)
  | ({ readonly as: 'alone' } & LoneTemplate);

/** Where a list of a workload keeps its Pod templates; all but `items` is below an item. */
export interface TemplateList {
  /** A list, or an object whose keys are the names. */
  readonly items: string;
  readonly name?: string;
  /** What an item without a name is called; its position follows. */
  readonly unnamed?: string;
  readonly template: string;
  /** Absent where every item stands for one Pod. */
  readonly replicas?: string;
  readonly minAvailable?: string;
}

/** A map from roles to templates. */
export interface RoleMap {
  readonly at: string;
  /** In this order; others by their names after them. */
  readonly roles: readonly string[];
  /** Roles that have no Pod where nothing is said; others have one. */
  readonly none: readonly string[];
  /** Where the least number of the role `worker` is, of a job that grows and shrinks. */
  readonly elastic?: string;
}

export interface LoneTemplate {
  /** Absent: what the template calls itself, else `main`. */
  readonly name?: string;
  readonly template: string;
  readonly replicas?: string | undefined;
  readonly minAvailable?: string | undefined;
}
