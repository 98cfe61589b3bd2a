import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { own, ownObject, type JsonObject } from '../../json/json.ts';
import { quoted } from '../../text/printable.ts';
import { messageOf, MusterError } from '../../errors.ts';
import type { CliIo } from '../output/io.ts';
import { makeFolder } from '../output/make-folder.ts';

/** The API server's rule for keys of a ConfigMap, by which each is the name of a file in its folder. */
const isKey = (key: string): boolean => /^[-._a-zA-Z0-9]{1,253}$/.test(key) && !/^\.$|^\.\./.test(key);

/** Every key as it is mounted: scripts can be run, all else read. */
export async function writeFiles(
  out: string,
  made: readonly (readonly JsonObject[])[],
  io: Pick<CliIo, 'stdout'>,
): Promise<void> {
  const [objects, ...more] = made;
  if (more.length > 0) {
    throw new MusterError(
      'USAGE',
      `--out takes the files of one gang, and the input has ${made.length}`,
      'give the PodGangs one at a time',
    );
  }
  const data = ownObject(
    objects?.find((one) => own(one, 'kind') === 'ConfigMap'),
    'data',
  );
  if (data === undefined) {
    throw new MusterError(
      'HPC_NOTHING',
      'no ConfigMap is made for this gang, so there are no files: PyTorch is told by the environment of the Pods',
      'leave out --out to see what is made, and see the Pods with muster review',
    );
  }
  const wrong = Object.keys(data).find((key) => !isKey(key));
  if (wrong !== undefined) {
    throw new MusterError(
      'USAGE',
      `a preparation makes a ConfigMap with the key ${quoted(wrong)}, which is no file name and no key that an API server takes`,
      'have the preparation name its keys with letters, digits, "-", "_" and "." alone, and not begin one with ".."',
    );
  }
  try {
    await makeFolder(out);
    for (const key of Object.keys(data)) {
      const text = own(data, key);
      const mode = key.endsWith('.sh') ? 0o755 : 0o644;
      if (typeof text === 'string') await writeFile(join(out, key), text, { mode });
    }
  } catch (thrown) {
    throw new MusterError(
      'USAGE',
      `--out ${out}: ${messageOf(thrown)}`,
      'name a folder that you may write to',
    );
  }
  for (const key of Object.keys(data)) io.stdout(`${join(out, key)}\n`);
}
