import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MUSTER_USER } from '../../src/api/names.ts';

/** Writes of one namespace, as the API server logged them: tried ones, whatever came of them. */
export interface Writes {
  /** PodGangs that it made itself, of workloads. */
  readonly made: number;
  readonly references: number;
  readonly status: number;
  /** Of `status`, those that told a gang again what it waits for: before its references, and not the first. */
  readonly toldAgain: number;
  readonly gates: number;
  readonly events: number;
  /** Of the first four, those that were refused (409, 422, 429 …). */
  readonly refused: number;
}

interface Entry {
  readonly verb?: string;
  readonly userAgent?: string;
  readonly objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
  readonly responseStatus?: { code?: number };
}

const WRITING = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** The API server logs what Muster's account writes and nothing else, so that the log costs everybody else nothing. */
export function writeAudit(folder: string): { args: string[]; logFile: string } {
  const policyFile = join(folder, 'audit-policy.json');
  const logFile = join(folder, 'audit.log');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [{ level: 'Metadata', users: [MUSTER_USER], verbs: WRITING }, { level: 'None' }],
  };
  writeFileSync(policyFile, JSON.stringify(policy));
  return { args: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${logFile}`], logFile };
}

/** Counts the writes to a namespace so far, those of the bare client left out. */
export function countWrites(logFile: string, namespace: string): Writes {
  const counts = { made: 0, references: 0, status: 0, toldAgain: 0, gates: 0, events: 0, refused: 0 };
  const told = new Set<string | undefined>();
  const complete = new Set<string | undefined>();
  for (const line of loggedLines(logFile)) {
    if (!line.includes(`"${namespace}"`)) continue;
    const { verb, userAgent, objectRef, responseStatus } = JSON.parse(line) as Entry;
    if (objectRef?.namespace !== namespace || userAgent === 'bare') continue;
    const kind = kindOf(verb, objectRef);
    counts[kind] += 1;
    const refused = (responseStatus?.code ?? 0) >= 400;
    if (kind !== 'events' && refused) counts.refused += 1;
    if (refused) continue;
    const { name } = objectRef;
    if (kind === 'references') complete.add(name);
    if (kind === 'status' && !complete.has(name)) {
      if (told.has(name)) counts.toldAgain += 1;
      told.add(name);
    }
  }
  return counts;
}

/** The whole lines of an audit log: what comes after the last line break is still being written. */
export const loggedLines = (logFile: string): string[] =>
  readFileSync(logFile, 'utf8').split('\n').slice(0, -1);

function kindOf(
  verb: string | undefined,
  { resource, subresource }: NonNullable<Entry['objectRef']>,
): Exclude<keyof Writes, 'refused' | 'toldAgain'> {
  if (resource === 'podgangs' && verb === 'create') return 'made';
  if (resource === 'podgangs') return subresource === 'status' ? 'status' : 'references';
  if (resource === 'pods') return 'gates';
  if (resource === 'events') return 'events';
  throw new Error(`Muster wrote ${resource ?? 'something'}, which nobody expected`);
}
