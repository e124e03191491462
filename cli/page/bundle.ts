/** Bundles the parts of a page from the sources. A release has both parts already. */
import { build, type Plugin } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const require = createRequire(import.meta.url);

/** Stubs of the Node modules that `explain` imports and a page never calls: a page has neither files nor processes. */
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
export function bundleScript(): Promise<string> {
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

/** The page's styles, with two fonts in them. */
export async function styles(): Promise<string> {
  const faces = FONTS.map(async ([family, file]) => {
    const bytes = await readFile(require.resolve(file));
    return `@font-face{font-family:'${family}';font-weight:100 900;src:url(data:font/woff2;base64,${bytes.toString('base64')}) format('woff2')}`;
  });
  return [...(await Promise.all(faces)), await readFile(join(ROOT, 'packages/timeline/page/style.css'), 'utf8')].join(
    '\n',
  );
}
