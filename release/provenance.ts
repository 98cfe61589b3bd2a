/** Checksums of the artefacts, and the statement of what they were made from. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the meaning of `externalParameters`; it changes when that does. */
const BUILD_TYPE = 'https://muster.dev/release/npm-run-release/v1';
const BY_HAND = 'https://muster.dev/release/by-hand';

export interface Source {
  readonly version: string;
  /** Hash of the commit, with `-dirty` where the checkout had changes. */
  readonly commit: string;
  readonly snapshot: boolean;
  /** Of the repository, where the builder knows it. */
  readonly repository?: string;
  /** Identity of who builds, a URI; the signature has to be of the same. */
  readonly builder?: string;
}

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

/** By name, in the order of names, the SHA-256 of every file in `folder`. */
export const digestsOf = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, sha256(join(folder, name))]),
  );

/** In the form that `sha256sum -c` reads. */
export const checksums = (digests: ReadonlyMap<string, string>): string =>
  [...digests].map(([name, digest]) => `${digest}  ${name}\n`).join('');

/**
 * An in-toto statement with SLSA's provenance as its predicate, not signed. It has no times, so that the same commit gives the
 * same statement.
 */
export function provenance(root: string, source: Source, digests: ReadonlyMap<string, string>): string {
  const { version, commit, snapshot, repository, builder = BY_HAND } = source;
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests].map(([name, digest]) => ({ name, digest: { sha256: digest } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { version, snapshot },
        internalParameters: { platform: `${process.platform}/${process.arch}` },
        resolvedDependencies: [
          {
            ...(repository !== undefined && { uri: `git+${repository}@refs/tags/v${version}` }),
            name: 'source',
            digest: { gitCommit: commit.replace(/-dirty$/, '') },
            ...(commit.endsWith('-dirty') && { annotations: { changed: true } }),
          },
          {
            name: 'package-lock.json',
            digest: { sha256: sha256(join(root, 'package-lock.json')) },
          },
          {
            name: 'node',
            uri: `pkg:npm/node@${process.versions.node}`,
            digest: { sha256: sha256(process.execPath) },
          },
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
