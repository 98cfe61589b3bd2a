import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What the program was seen to say in a whole run of the tests: log messages, metrics that counted something, reasons of
 * Events. A reporter (test/wiring/reporter.js) holds it against the lists in the source, so that what nobody says any
 * more fails the run, whichever test happened to provoke it.
 */
const directory = process.env['TESTING_MUSTER_OBSERVED'];
const known = new Set<string>();

function note(kind: 'log' | 'metric' | 'event', what: string): void {
  const line = JSON.stringify([kind, what]);
  if (directory === undefined || known.has(line)) return;
  known.add(line);
  appendFileSync(join(directory, `${process.pid}.jsonl`), `${line}\n`);
}

/** A parsed line of the log: its level is part of what it says. */
export function observeLog({ level, msg }: { readonly level?: unknown; readonly msg?: unknown }): void {
  if (typeof msg === 'string') note('log', `${String(level)} ${msg}`);
}

/** Lines of the log as they were written, of which some may be no JSON. */
export function observeLines(lines: readonly string[]): void {
  if (directory === undefined) return;
  for (const line of lines) {
    if (!line.startsWith('{')) continue;
    try {
      observeLog(JSON.parse(line) as object);
    } catch {
      // Half a line, at the end of a process that was killed.
    }
  }
}

/** The text of `/metrics`; a series that stands at zero says only that it is there, which proves nothing. */
export function observeExposition(text: string): void {
  for (const line of text.split('\n')) {
    const found = /^(\w+(?:\{.*\})?) (\S+)$/.exec(line);
    if (found?.[1] !== undefined && Number(found[2]) !== 0 && !found[1].includes('_bucket{'))
      note('metric', found[1]);
  }
}

/** What a replica counts at this moment, as Prometheus reads it. */
export async function metricsAt(port: number, signal?: AbortSignal): Promise<string> {
  const url = `http://127.0.0.1:${port}/metrics`;
  const text = await (await fetch(url, signal === undefined ? {} : { signal })).text();
  observeExposition(text);
  return text;
}

/** Of a replica that may be gone by now. */
export async function observeMetrics(port: number): Promise<void> {
  try {
    await metricsAt(port, AbortSignal.timeout(5_000));
  } catch {
    // It was killed, or is held up by what is tested.
  }
}

export const observeEvent = (reason: string): void => note('event', reason);
