// `install.yaml`: everything of one overlay as one file, for `kubectl apply --server-side -f` where there is no helm.
import { join } from 'node:path';
import { stringify } from 'yaml';
import { kustomized } from '../src/cli/doctor/installed/kustomize.ts';
import { musterVersion } from '../src/cli/version.ts';
import { ownList, ownObject, ownString, type JsonObject } from '../src/json/json.ts';

const ROOT = join(import.meta.dirname, '..');
/** Needs nothing else in the cluster: Muster makes its certificates itself. */
const OVERLAY = 'in-cluster';

export interface InstallOptions {
  /** The image with its tag or digest. */
  readonly image: string;
  readonly version: string;
}

/** What must be there before the rest can be stored; the overlay has the order of its files. */
const FIRST = ['Namespace', 'CustomResourceDefinition'];

/** The objects of the overlay, with this image. */
export function installObjects(image: string): readonly JsonObject[] {
  const objects = kustomized(join(ROOT, 'manifests/overlays', OVERLAY)).map((object) =>
    ownString(object, 'kind') === 'Deployment' ? withImage(object, image) : object,
  );
  const rank = (object: JsonObject): number => {
    const at = FIRST.indexOf(ownString(object, 'kind') ?? '');
    return at < 0 ? FIRST.length : at;
  };
  return [...objects].sort((one, other) => rank(one) - rank(other));
}

function withImage(deployment: JsonObject, image: string): JsonObject {
  const changed = structuredClone<JsonObject>(deployment);
  const pod = ownObject(ownObject(ownObject(changed, 'spec'), 'template'), 'spec');
  for (const container of ownList(pod, 'containers') ?? []) Object.assign(container as object, { image });
  return changed;
}

export function installYaml({ image, version }: InstallOptions): string {
  const head = `# Muster ${version}: kubectl apply --server-side -f install.yaml (docs/install.md)\n`;
  const documents = installObjects(image).map((object) => `---\n${stringify(object, { lineWidth: 0 })}`);
  return head + documents.join('');
}

if (import.meta.main) {
  const version = musterVersion();
  process.stdout.write(installYaml({ image: process.argv[2] ?? `muster:${version}`, version }));
}
