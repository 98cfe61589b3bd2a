import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../src/cli/version.ts';
import { own, ownObject, type JsonObject } from '../../src/json/json.ts';
import { goEnvironment } from '../cluster/control-plane/managed-process.ts';
import { locateGoTool, whyNoGoTool } from '../cluster/go-tools/go-tools.ts';

const CHART = join(packageRoot() ?? '', 'charts', 'muster');

/** Why no chart can be rendered here; undefined: it can. Asked once per test file. */
const whyNot = await whyNoGoTool('helm');
/** The program; only its name where there is none. */
export const helmProgram = whyNot === undefined ? await locateGoTool('helm', { build: false }) : 'helm';

/** `describe` for tests that need helm; where there is none, they are skipped and say so. */
export function helmSuite(name: string, body: () => void): void {
  if (whyNot === undefined) return void describe(name, body);
  process.stderr.write(`SKIPPED: ${name}: ${whyNot}\n`);
  describe.skip(name, body);
}

/** Runs helm with the chart, and these values on its standard input. */
export function helm(
  args: readonly string[],
  values: object = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    const given = [...args, CHART, '--values', '-'];
    const options = { env: goEnvironment(), maxBuffer: 1 << 26 };
    const child = execFile(helmProgram, given, options, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err }),
    );
    child.stdin?.end(JSON.stringify(values));
  });
}

export interface Rendering {
  readonly namespace?: string;
  readonly kubernetes?: string;
}

/** The objects of the chart with these values. @throws with what helm says */
export async function rendered(
  values: object = {},
  { namespace = 'muster-system', kubernetes = '1.37.2' }: Rendering = {},
): Promise<readonly JsonObject[]> {
  const args = ['template', 'muster', '--namespace', namespace, '--kube-version', kubernetes];
  const { code, out, err } = await helm(args, values);
  if (code !== 0) throw new Error(err);
  return parseAllDocuments(out).flatMap((document) => {
    const [fault] = document.errors;
    if (fault !== undefined) throw fault;
    const object = document.toJS() as JsonObject | null;
    return object === null ? [] : [object];
  });
}

/** Labels and annotations that the chart has besides, of the object and its Pods. */
const ADDED =
  /^(app\.kubernetes\.io\/(name|part-of|instance|version|managed-by)|helm\.sh\/.*|checksum\/config)$/;

/** The object without what the chart adds to it. */
export function withoutHelm(object: JsonObject): JsonObject {
  const metadata = { ...ownObject(object, 'metadata') };
  for (const list of ['labels', 'annotations']) {
    const kept = Object.entries(ownObject(metadata, list) ?? {}).filter(([key]) => !ADDED.test(key));
    if (kept.length === 0) delete metadata[list];
    else metadata[list] = Object.fromEntries(kept);
  }
  const template = ownObject(ownObject(object, 'spec'), 'template');
  if (template === undefined) return { ...object, metadata };
  const pod = withoutHelm(template);
  const labels = own(ownObject(template, 'metadata') ?? null, 'labels') ?? null;
  const spec = { ...ownObject(object, 'spec') };
  return {
    ...object,
    metadata,
    spec: { ...spec, template: { ...pod, metadata: { ...ownObject(pod, 'metadata'), labels } } },
  };
}
