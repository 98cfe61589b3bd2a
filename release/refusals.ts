/** What a release is refused for, and the notes that it gets from CHANGELOG.md. */

/** Ends `npm run release`; the text has the code and the way out, as the errors of the program have. */
export class ReleaseRefused extends Error {
  constructor(code: string, what: string, fix: string) {
    super(`error[${code}]: ${what}\nfix: ${fix}`);
  }
}

/** State of the checkout that a release is made from. */
export interface Checkout {
  /** In package.json. */
  readonly version: string;
  /** By file, every other place that has the version. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly changelog: string;
  /** Lines of `git status --porcelain`. */
  readonly changes: readonly string[];
  /** Tags of the commit. */
  readonly tags: readonly string[];
}

/** @throws ReleaseRefused for the first thing that is wrong; returns the notes of the version */
export function releaseNotes({ version, versions, changelog, changes, tags }: Checkout): string {
  if (changes.length > 0) {
    const more = changes.length > 3 ? ` and ${changes.length - 3} more` : '';
    const files = changes.slice(0, 3).map((line) => line.slice(3));
    throw new ReleaseRefused(
      'RELEASE_DIRTY',
      `the checkout has changes that are not committed: ${files.join(', ')}${more}`,
      'commit or remove them; to try a release without publishing it: npm run release -- --snapshot',
    );
  }
  checkVersions(version, versions);
  const other = tags.filter((tag) => /^v\d/.test(tag) && tag !== `v${version}`);
  if (other.length > 0)
    throw new ReleaseRefused(
      'RELEASE_TAG_MISMATCH',
      `the commit has the tag ${other.join(', ')}, and package.json the version ${version}, whose tag is v${version}`,
      `tag the commit whose package.json says ${other[0]?.slice(1)}, or delete the tag: git tag -d ${other[0]}`,
    );
  const notes = sectionOf(changelog, version);
  if (notes === undefined)
    throw new ReleaseRefused(
      'RELEASE_NO_NOTES',
      `CHANGELOG.md has no section "## ${version}", and package.json has that version`,
      `rename the section "## Unreleased" to "## ${version}" and begin a new one above it`,
    );
  return notes;
}

/** @throws ReleaseRefused naming the file whose version is another one than that of package.json */
export function checkVersions(version: string, versions: Checkout['versions']): void {
  for (const [file, found] of Object.entries(versions))
    if (found !== version)
      throw new ReleaseRefused(
        'RELEASE_VERSION_MISMATCH',
        `${file} has the version ${found ?? '(none)'}, and package.json ${version}`,
        file === 'package-lock.json' ? 'run npm install' : `write ${version} into ${file}`,
      );
}

/** The text below a heading such as `## 0.2.0` or `## 0.2.0 (2026-12-01)`, up to the next of its level; undefined where it is empty. */
export function sectionOf(changelog: string, title: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const found = sections.find((section) => section.split(/[ \n]/, 1)[0] === title);
  const text = found?.slice(found.indexOf('\n') + 1).trim();
  return text ? `${text}\n` : undefined;
}
