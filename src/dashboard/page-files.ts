import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { STYLE } from './style.ts';

export interface PageFile {
  readonly type: string;
  readonly text: string;
  /** The header Cache-Control. */
  readonly caching: string;
}

/** Packages of the page: the name in an import, to the path of its file. */
const PACKAGES = { preact: 'packages/preact.mjs' };

const SCRIPT = 'text/javascript; charset=utf-8';

/**
 * The page, and what it loads by path, in a folder named by the contents, so that a browser keeps it: nothing else is ever
 * read for a request.
 * @param signsIn whether the page asks for a token where it gets no data
 */
export function pageFiles(signsIn = false): {
  readonly page: PageFile;
  readonly kept: ReadonlyMap<string, PageFile>;
  readonly policy: string;
} {
  const files = keptFiles();
  const hash = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('hex');
  const at = (path: string): string => `/${hash.slice(0, 16)}/${path}`;
  const imports = JSON.stringify({
    imports: Object.fromEntries(Object.entries(PACKAGES).map(([name, path]) => [name, at(path)])),
  });
  const kept = new Map([...files].map(([path, file]) => [at(path), file]));
  const text = shell(imports, [...kept.keys()], signsIn);
  const page = { type: 'text/html; charset=utf-8', text, caching: 'no-store' };
  return { page, kept, policy: contentPolicy(imports) };
}

function keptFiles(): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  const add = (path: string, type: string, text: string): void => {
    files.set(path, { type, text, caching: 'private, max-age=31536000, immutable' });
  };
  const folder = join(import.meta.dirname, 'page');
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8');
    // In a checkout the page is TypeScript, as the program is.
    if (name.endsWith('.ts') && !name.endsWith('.d.ts'))
      add(`page/${name}`, SCRIPT, stripTypeScriptTypes(text));
    if (name.endsWith('.js')) add(`page/${name}`, SCRIPT, text);
  }
  for (const [name, path] of Object.entries(PACKAGES)) {
    const text = readFileSync(fileURLToPath(import.meta.resolve(name)), 'utf8');
    add(path, SCRIPT, text.replace(/\n\/\/# sourceMappingURL=.*/, ''));
  }
  add('style.css', 'text/css; charset=utf-8', STYLE);
  return files;
}

/** The page without data. @param paths the scripts are asked for at once, not one after the import of another */
function shell(imports: string, paths: readonly string[], signsIn: boolean): string {
  const scripts = paths.filter((path) => /\.[mc]?[jt]s$/.test(path));
  const ending = (end: RegExp): string => paths.find((path) => end.test(path)) ?? '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="data:,">
<script type="importmap">${imports}</script>
<script type="module" async src="${ending(/\/first-stream\.[jt]s$/)}"></script>
<link rel="stylesheet" href="${ending(/\/style\.css$/)}">
${scripts.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n')}
<script type="module" src="${ending(/\/main\.[jt]s$/)}"></script>
</head>
<body><div id="page"${signsIn ? ' data-signs-in="true"' : ''}><noscript>The dashboard needs JavaScript.</noscript></div></body>
</html>
`;
}

/** Nothing from elsewhere, nothing inline but the map of imports, and no text that becomes a script. */
function contentPolicy(imports: string): string {
  const hash = createHash('sha256').update(imports).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
