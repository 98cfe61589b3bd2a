/** Names that two files of src still export. */
export const TWICE_LEFT: readonly string[] = [
  'Component',
  'Configured',
  'HpcGang',
  'PodReader',
  'Position',
  'Question',
  'Rule',
  'Said',
  'Severity',
  'Tried',
  'Trouble',
  'configured',
  'duration',
  'kindOf',
  'nameOf',
  'patched',
  'placeOf',
  'priorityRules',
  'tryOut',
  'warningsOf',
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
