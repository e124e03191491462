/** Makes the page: one file with script, styles, fonts and data in it. It asks for nothing, and its policy forbids it to. */
import { build, type Plugin } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageData } from '../../packages/timeline/src/page-data.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const require = createRequire(import.meta.url);

/** What `explain` imports of Node, and a page never calls: it has neither files nor processes. */
const NODE_MODULES: Readonly<Record<string, string>> = {
  'node:util':
    'export const isDeepStrictEqual = (a, b) => JSON.stringify(a) === JSON.stringify(b); export const promisify = f => f;',
};
const browserOnly: Plugin = {
  name: 'browser-only',
  setup(plugin) {
    // What a command loads when it runs, a page never calls.
    plugin.onResolve({ filter: /./ }, ({ path, kind }) =>
      kind === 'dynamic-import' ? { path, namespace: 'node', sideEffects: false } : undefined,
    );
    plugin.onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node', sideEffects: false }));
    plugin.onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
      contents: NODE_MODULES[path] ?? 'module.exports = {};',
    }));
  },
};

let script: Promise<string> | undefined;

/** The page's script, minified; bundled once in a process. */
function bundleScript(): Promise<string> {
  script ??= build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/page/browser/entry.ts'],
    // The only global of Node's that `explain` uses.
    banner: { js: 'globalThis.Buffer??={byteLength:text=>new TextEncoder().encode(text).length};' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2024',
    legalComments: 'none',
    logLevel: 'silent',
    write: false,
    plugins: [browserOnly],
    // esbuild writes `<\/script`, whatever stands in the sources: the element does not end early.
  }).then(({ outputFiles: [file] }) => file?.text ?? '');
  return script;
}

const FONTS = [
  ['Inter Variable', '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'],
  ['JetBrains Mono Variable', '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2'],
] as const;

async function styles(): Promise<string> {
  const faces = FONTS.map(async ([family, file]) => {
    const bytes = await readFile(require.resolve(file));
    return `@font-face{font-family:'${family}';font-weight:100 900;src:url(data:font/woff2;base64,${bytes.toString('base64')}) format('woff2')}`;
  });
  return [...(await Promise.all(faces)), await readFile(join(ROOT, 'packages/timeline/page/style.css'), 'utf8')].join(
    '\n',
  );
}

/**
 * The page as HTML.
 *
 * @param data what it shows; undefined: it follows the server that it comes from, at `events`
 */
export async function makePage(title: string, data: PageData | undefined): Promise<string> {
  const [code, css, packed] = await Promise.all([bundleScript(), styles(), pack(data)]);
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(code)}`,
    "style-src 'unsafe-inline'",
    'font-src data:',
    'img-src data:',
    ...(data === undefined ? ["connect-src 'self'"] : []),
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<style>${css}</style>
</head>
<body>
<noscript>This page draws a day of a cluster, and needs JavaScript for it. Nothing is loaded from anywhere.</noscript>
<script type="application/octet-stream" id="data">${packed}</script>
<script type="module">${code}</script>
</body>
</html>
`;
}

const compress = promisify(gzip);

async function pack(data: PageData | undefined): Promise<string> {
  return data === undefined ? '' : (await compress(JSON.stringify(data))).toString('base64');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, character => ENTITIES[character] ?? character);
