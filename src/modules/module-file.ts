import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readFile, realpath } from 'node:fs/promises';
import { createRequire, isBuiltin, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { ownString } from '../json/json.ts';
import { messageOf, MusterError } from '../errors.ts';
import { quoted } from '../text/printable.ts';

/** Maximal size of a module, above that of any bundle; a device such as /dev/zero has no end. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A module as the configuration names it. */
export interface ModuleSource {
  /** A path, where it begins with `.` or `/`, else the name of a package. */
  readonly module: string;
  readonly integrity?: string | undefined;
  /** The folder that relative paths start from, and from which packages are resolved. */
  readonly folder: string;
  /** Path in the configuration, such as `scheduler.profiles[1].module`, for errors. */
  readonly field: string;
}

/** A file that was read once: the bytes that are hashed are the bytes that run, even if the file changes. */
export interface ModuleFile {
  readonly module: string;
  readonly url: string;
  readonly text: string;
  readonly format: string;
  /** Whether the file has to match a hash. The hash covers this file alone, so a pinned file may import no other. */
  readonly pinned: boolean;
  /** The folder of the module's package, or of the file where there is no package. */
  readonly root: string;
}

/** Reads a module. @throws MusterError BACKEND_MODULE_MISSING, BACKEND_MODULE_INTEGRITY */
export async function readModule(source: ModuleSource): Promise<ModuleFile> {
  const { module, integrity } = source;
  const path = locate(source);
  try {
    const content = await readOnce(path);
    if (integrity !== undefined) compare(source, integrity, content);
    const file = await realpath(path);
    const url = pathToFileURL(file).href;
    const described = await packageOf(dirname(file));
    const root = described?.folder ?? dirname(file);
    const text = content.toString('utf8');
    const format = formatOf(file, text, described?.type);
    return { module, url, text, format, pinned: integrity !== undefined, root };
  } catch (thrown) {
    throw thrown instanceof MusterError ? thrown : missing(source, path, thrown);
  }
}

/** A package name as npm allows it, and optionally a path inside the package without `..`. */
const PACKAGE = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/i;

function locate(source: ModuleSource): string {
  const { module, folder, field } = source;
  if (/^[./]/.test(module)) return resolve(folder, module);
  if (!PACKAGE.test(module) || isBuiltin(module)) {
    throw new MusterError(
      'BACKEND_MODULE_MISSING',
      `${field}: ${quoted(module)} is no path that begins with "." or "/", and no name of a package`,
      `write ./${module} if it is a file beside the configuration`,
    );
  }
  for (const from of [resolve(folder, 'package.json'), import.meta.url]) {
    try {
      const found = createRequire(from).resolve(module);
      if (isAbsolute(found)) return found;
    } catch (thrown) {
      // An error other than MODULE_NOT_FOUND, of a package that exists and cannot be resolved, has a message of its own.
      if ((thrown as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw missing(source, module, thrown);
    }
  }
  throw new MusterError(
    'BACKEND_MODULE_MISSING',
    `${field}: there is no package ${quoted(module)} in a node_modules above ${folder} or Muster itself`,
    `install it there, or write ./${module} if it is a file beside the configuration`,
  );
}

/**
 * Checks and reads the same open file descriptor, so that the file that is checked is the one that is read. The open does
 * not block on a FIFO.
 */
async function readOnce(path: string): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('it is no file');
    if (stats.size > MAX_BYTES)
      throw new Error(`it has ${stats.size} bytes, and ${MAX_BYTES} at most are read`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

const missing = ({ field, folder, module }: ModuleSource, file: string, cause: unknown): MusterError =>
  new MusterError(
    'BACKEND_MODULE_MISSING',
    `${field}: cannot read ${module === file ? module : `${module} (${file})`}: ${messageOf(cause)}`,
    `name a file that this user may read, relative to ${folder}, or an installed package`,
    { cause },
  );

function compare({ field, module }: ModuleSource, integrity: string, content: Buffer): void {
  const algorithm = integrity.slice(0, integrity.indexOf('-'));
  const found = `${algorithm}-${createHash(algorithm).update(content).digest('base64')}`;
  if (found === integrity) return;
  throw new MusterError(
    'BACKEND_MODULE_INTEGRITY',
    `${field.replace(/module$/, 'integrity')}: ${module} should be ${integrity}, and is ${found}`,
    'put back the file that was meant, or, if the change is yours, write the hash that it has now',
  );
}

/**
 * The package of a folder, by Node's lookup of package.json; undefined at the root, whose package.json would cover the whole
 * machine.
 */
async function packageOf(folder: string): Promise<{ folder: string; type: string | undefined } | undefined> {
  if (folder === dirname(folder)) return undefined;
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return packageOf(dirname(folder));
  return { folder, type: ownString(JSON.parse(text) as unknown, 'type') };
}

/** The format by Node's rules: the extension, then the `type` of the package, then the syntax. */
function formatOf(file: string, text: string, type: string | undefined): string {
  const extension = extname(file);
  const typed = /^\.[mc]?ts$/.test(extension) ? '-typescript' : '';
  if (/^\.m[jt]s$/.test(extension)) return `module${typed}`;
  if (/^\.c[jt]s$/.test(extension)) return `commonjs${typed}`;
  return `${type ?? (isScript(typed === '' ? text : stripped(text)) ? 'commonjs' : 'module')}${typed}`;
}

/** Whether the text parses as CommonJS, which has no `import` and `export`; parsing runs nothing. */
function isScript(text: string): boolean {
  try {
    compileFunction(text, ['exports', 'require', 'module', '__filename', '__dirname']);
    return true;
  } catch {
    return false;
  }
}

function stripped(text: string): string {
  try {
    return stripTypeScriptTypes(text);
  } catch {
    // A syntax error is reported when the module is loaded.
    return text;
  }
}
