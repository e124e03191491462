/** The command line as an npm package: one bundle, without dependencies, that runs where there is Node and nothing else. */
import { build, type Metafile, type Plugin } from 'esbuild';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { bundleScript, styles } from '../../cli/page/bundle.ts';
import { PROGRAM } from '../../forwarder/bundle.ts';
import { tarGzOf, type Entry } from '../archive.ts';
import { filesOf, ROOT } from '../files.ts';
import { noticesOf, packagesIn } from '../packages.ts';

export const PACKAGE_NAME = 'curfew-cli';

/** Commands that run the sources, a database or the CDK. */
const FROM_SOURCES: Readonly<Record<string, string>> = {
  '../start.ts': 'startCommand',
  '../swarm.ts': 'swarmCommand',
  '../explore.ts': 'exploreCommand',
};

/** Leaves out what needs the repository, and takes the page as it was made. */
const withoutRepository: Plugin = {
  name: 'without-repository',
  setup(plugin) {
    plugin.onResolve({ filter: /^\.\.\/(start|swarm|explore)\.ts$/ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && relative(ROOT, importer).startsWith('cli/commands/')
        ? { path, namespace: 'from-sources' }
        : undefined,
    );
    plugin.onLoad({ filter: /.*/, namespace: 'from-sources' }, ({ path }) => ({
      resolveDir: ROOT,
      contents: `import { UsageError } from './cli/usage-error.ts';
        export const ${FROM_SOURCES[path] ?? ''} = () => {
          throw new UsageError('this command runs from the repository: clone it, and run it there after npm ci');
        };`,
    }));
    plugin.onResolve({ filter: /^\.\/bundle\.ts$/ }, ({ path, importer }) =>
      relative(ROOT, importer) === 'cli/page/html.ts' ? { path, namespace: 'made' } : undefined,
    );
    plugin.onLoad({ filter: /.*/, namespace: 'made' }, () => ({
      resolveDir: ROOT,
      contents: `import { readFile } from 'node:fs/promises';
        const read = name => readFile(new URL(name, import.meta.url), 'utf8');
        export const bundleScript = () => read('page.js');
        export const styles = () => read('page.css');`,
    }));
  },
};

export interface CliPackage {
  /** What `npm install` takes. */
  readonly archive: Buffer;
  readonly metafile: Metafile;
}

/** The package, with the same bytes each time. */
export async function cliPackage(): Promise<CliPackage> {
  const { outputFiles, metafile } = await build({
    ...PROGRAM,
    absWorkingDir: ROOT,
    entryPoints: { curfew: 'cli/curfew.ts' },
    outdir: 'dist/lib',
    write: false,
    splitting: true,
    metafile: true,
    outExtension: { '.js': '.mjs' },
    plugins: [withoutRepository],
  });
  const lib = outputFiles.map(({ path, contents }): Entry => ({
    path: `lib/${relative(join(ROOT, 'dist/lib'), path)}`,
    contents,
  }));
  const entries: readonly Entry[] = [
    { path: 'package.json', contents: `${JSON.stringify(MANIFEST, undefined, 2)}\n` },
    { path: 'bin/curfew.js', contents: read('release/cli/curfew.js'), isExecutable: true },
    { path: 'README.md', contents: read('release/cli/README.md') },
    { path: 'LICENSE', contents: read('LICENSE') },
    { path: 'THIRD-PARTY-NOTICES.txt', contents: noticesOf(packagesIn(metafile)) },
    ...lib,
    { path: 'lib/page.js', contents: await bundleScript() },
    { path: 'lib/page.css', contents: await styles() },
    // Where the bundle looks for them.
    ...filesOf('deploy/crds', ['*.yaml'], 'deploy/crds/'),
    ...filesOf('simulator/crds', ['*.yaml'], 'lib/crds/'),
    ...filesOf('examples/scenarios', ['bad-day.yaml', 'bad-day/**'], 'examples/'),
  ];
  return { archive: tarGzOf(entries.map(entry => ({ ...entry, path: `package/${entry.path}` }))), metafile };
}

const read = (file: string): Buffer => readFileSync(join(ROOT, file));

const MANIFEST = {
  name: PACKAGE_NAME,
  version: packageFile.version,
  description: packageFile.description,
  license: packageFile.license,
  type: 'module',
  bin: { curfew: 'bin/curfew.js' },
  engines: { node: '>=24' },
};
