/** The bill of materials: what npm says of the packages, and Node with the libraries that are linked into it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** The parts of a CycloneDX document that are changed here. */
interface Bom {
  serialNumber: string;
  metadata: { timestamp: string; component: { 'bom-ref': string; type: string; name: string } };
  components: object[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** Keys of `process.versions` whose code is part of the Node program, as advisories name them. */
const IN_NODE = 'ada ares brotli icu llhttp nghttp2 openssl simdjson sqlite undici uv v8 zlib zstd'.split(
  ' ',
);

/**
 * CycloneDX as JSON, made from package-lock.json.
 * @param given `date`, ISO 8601, stands for the time that npm writes; `debian` has package URLs of what else the image holds
 */
export function billOfMaterials(
  root: string,
  given: { readonly name: string; readonly date: string; readonly debian: readonly string[] },
): string {
  const { name, date, debian } = given;
  const said = execFileSync(
    'npm',
    ['sbom', '--loglevel', 'error', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 },
  );
  const bom = JSON.parse(said) as Bom;
  const { component } = bom.metadata;
  const versions = new Map(Object.entries(process.versions));
  const node = { ref: `node@${process.versions.node}`, dependsOn: [] as string[] };
  const add = (key: string, type: string, purl: string): string => {
    const version = versions.get(key) ?? '';
    const ref = `${key}@${version}${key === 'node' ? '' : '#node'}`;
    bom.components.push({ 'bom-ref': ref, type, name: key, version, purl: `${purl}@${version}` });
    return ref;
  };
  add('node', 'platform', 'pkg:npm/node');
  for (const key of IN_NODE.filter((one) => versions.has(one)))
    node.dependsOn.push(add(key, 'library', `pkg:generic/${key}`));
  for (const purl of debian) {
    const [, of = '', version = ''] = /\/([^/]+)@([^?]+)/.exec(purl) ?? [];
    bom.components.push({ 'bom-ref': purl, type: 'library', name: of, version, purl });
    node.dependsOn.push(purl);
  }
  bom.dependencies.find(({ ref }) => ref === component['bom-ref'])?.dependsOn.push(node.ref);
  bom.dependencies.push(node, ...node.dependsOn.map((ref) => ({ ref, dependsOn: [] })));
  // npm takes the folder's name.
  Object.assign(component, { name, type: 'application' });
  bom.metadata.timestamp = date;
  bom.serialNumber = '';
  bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bom))}`;
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** A UUID of version 8, whose bits are the hash of a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
