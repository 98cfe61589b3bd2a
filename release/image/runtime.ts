/**
 * The image's files outside of /app: the npm package's own Node, byte for byte, so that anybody may compare it (33 MB of it
 * are symbols), the shared libraries that it names, from the Debian that builds, and what a scanner reads to know their versions.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Where the image has Node; the Dockerfile's base image has it there too. */
const NODE = 'nodejs/bin/node';

const USERS: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n',
  'etc/group': 'root:x:0:\nnonroot:x:65532:\n',
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/**
 * Absolute paths of the loader and the libraries that a program is linked with.
 * @param said what ldd said of it
 */
export function librariesIn(said: string): readonly string[] {
  const missing = /^\s*(\S+) => not found$/m.exec(said)?.[1];
  if (missing !== undefined)
    throw new Error(
      `Node needs ${missing}, which this machine does not have; install the Debian package that has it`,
    );
  return [...said.matchAll(/^\s*(?:\S+ => )?(\/\S+) \(0x/gm)].map(([, path = '']) => path).sort();
}

const librariesOf = (program: string): readonly string[] =>
  librariesIn(execFileSync('ldd', [program], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } }));

/** The Debian package that a library is from: by either path, since /lib is a link to /usr/lib. */
function packageOf(library: string): string {
  const paths = [library, realpathSync(library), join('/usr', library)];
  for (const path of new Set(paths)) {
    try {
      const said = execFileSync('dpkg-query', ['-S', path], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      return said.split(': ')[0] ?? '';
    } catch {
      // dpkg-query ends with 1 where no package has the path.
    }
  }
  throw new Error(`no Debian package has ${library}; the image's libraries come from Debian or Ubuntu`);
}

const nodeOf = (root: string): string => join(root, 'node_modules/node/bin/node');

/** Package URLs of the Debian packages that the image has a library of. */
export function runtimePackages(root: string): readonly string[] {
  const release = readFileSync('/etc/os-release', 'utf8');
  const [id = '', version = ''] = ['ID', 'VERSION_ID'].map(
    (key) => new RegExp(`^${key}="?([^"\n]*)`, 'm').exec(release)?.[1],
  );
  const names = [...new Set(librariesOf(nodeOf(root)).map(packageOf))].sort();
  const format = `pkg:deb/${id}/\${Package}@\${Version}?arch=\${Architecture}&distro=${id}-${version}\n`;
  return execFileSync('dpkg-query', ['--show', `--showformat=${format}`, ...names], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

/** Puts Node and what it needs into `into`. */
export function copyRuntime(root: string, into: string): void {
  const put = (path: string): string => {
    mkdirSync(dirname(join(into, path)), { recursive: true });
    return join(into, path);
  };
  const program = nodeOf(root);
  if (process.platform !== 'linux' || !existsSync('/usr/bin/dpkg-query'))
    throw new Error('the image is assembled on Debian or Ubuntu; elsewhere use the Dockerfile');
  copyFileSync(program, put(NODE));
  const libraries = librariesOf(program);
  for (const library of libraries) copyFileSync(library, put(library));
  for (const name of new Set(libraries.map(packageOf))) {
    const [bare = name] = name.split(':');
    writeFileSync(
      put(`var/lib/dpkg/status.d/${bare}`),
      execFileSync('dpkg-query', ['--status', name], { encoding: 'utf8' }),
    );
    const copyright = `/usr/share/doc/${bare}/copyright`;
    if (existsSync(copyright)) copyFileSync(copyright, put(copyright));
  }
  for (const path of ['/etc/os-release', '/etc/debian_version'])
    if (existsSync(path)) copyFileSync(path, put(path));
  for (const [path, text] of Object.entries(USERS)) writeFileSync(put(path), text);
}
