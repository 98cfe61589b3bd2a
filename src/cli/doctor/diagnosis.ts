/** The parts of an installation, in the order in which a person mends them. */
export const GROUPS = [
  'cluster',
  'definitions',
  'rights',
  'webhooks',
  'certificate',
  'admission',
  'policies',
  'interpreter',
  'assigner',
  'program',
  'backends',
  'gangs',
] as const;

export type Group = (typeof GROUPS)[number];

/** `not-checked`: it could not be seen from here, with these rights; never a word for fine. */
export type Severity = 'ok' | 'warning' | 'problem' | 'not-checked';

/** One thing that `muster doctor` looked at. The names are those of `-o json`. */
export interface Diagnosis {
  readonly group: Group;
  /** Which check it comes from, for programs: the same for everything that check may say. */
  readonly check: string;
  readonly severity: Severity;
  readonly found: string;
  /** What to do, one sentence; absent where it is fine. */
  readonly fix?: string;
  /** Commands for a shell that do just that, in their order; absent where no command does. */
  readonly commands?: readonly string[];
}

/** Makes the findings of one check. */
export interface Say {
  ok(found: string): Diagnosis;
  warning(found: string, fix: string): Diagnosis;
  problem(found: string, fix: string): Diagnosis;
  notChecked(found: string, fix: string): Diagnosis;
}

export const saying = (group: Group, check: string): Say => {
  const say =
    (severity: Severity) =>
    (found: string, fix: string): Diagnosis => ({ group, check, severity, found, fix });
  return {
    ok: (found) => ({ group, check, severity: 'ok', found }),
    warning: say('warning'),
    problem: say('problem'),
    notChecked: say('not-checked'),
  };
};
