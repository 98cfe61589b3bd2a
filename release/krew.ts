/** The manifest of the kubectl plugin for krew (sigs.k8s.io/krew). */
import { stringify } from 'yaml';

/** Stands in the manifest for the URL of the release where that is not known yet. */
export const RELEASE_URL = 'RELEASE_URL';

/** Systems that the plugin runs on: it is a script for Node, the same for all of them. */
const PLATFORMS = [
  ['linux', 'amd64'],
  ['linux', 'arm64'],
  ['darwin', 'amd64'],
  ['darwin', 'arm64'],
] as const;

/**
 * @param archive name of the plugin's archive, and its SHA-256
 * @param url of the folder that it is downloaded from
 */
export function krewManifest(
  version: string,
  archive: { readonly name: string; readonly sha256: string },
  url: string = RELEASE_URL,
): string {
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'muster' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Review, plan and watch gangs of Pods',
      description:
        'Shows what gang-scheduling admission would do to manifests, whether a gang fits,\n' +
        'why one waits, and what is wrong with an installation of Muster.\n',
      caveats: 'Needs Node.js 26 or later on the PATH.\n',
      platforms: PLATFORMS.map(([os, arch]) => ({
        selector: { matchLabels: { os, arch } },
        uri: `${url}/${archive.name}`,
        sha256: archive.sha256,
        // The archive has one folder around everything.
        files: [{ from: 'kubectl-muster/*', to: '.' }],
        bin: 'bin/muster',
      })),
    },
  };
  return stringify(manifest, { lineWidth: 0 });
}
