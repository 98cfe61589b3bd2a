/** Names that two files of src still export. */
export const TWICE_LEFT: readonly string[] = [
  'Component',
  'Configured',
  'HpcGang',
  'Position',
  'Rule',
  'Severity',
  'Trouble',
  'configured',
  'duration',
  'kindOf',
  'patched',
  'placeOf',
  'priorityRules',
  'tryOut',
  'workloadFindings',
  'workloadRules',
];

/** Coinages that are still names of src. */
export const COINAGES_LEFT: readonly string[] = [
  'LARGE_PLACES',
  'Said',
  'Standstill',
  'dueOf',
  'newlyUnheard',
  'saidBy',
  'told',
  'unheardTerms',
];
