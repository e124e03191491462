/** The released construct library in an empty folder: its README's examples compile there, and synthesize. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { ROOT } from '../../release/files.ts';
import { libraryPackage } from '../../release/library.ts';

type Template = { readonly Resources: Readonly<Record<string, { readonly Type: string }>>; readonly Outputs: object };

describe('the released construct library', () => {
  let folder = '';
  const app = (): string => join(folder, 'app');
  const installed = (): string => join(app(), 'node_modules/curfew-cdk');

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-library-'));
    writeFileSync(join(folder, 'package.tgz'), (await libraryPackage()).archive);
    mkdirSync(app());
    writeFileSync(join(app(), 'package.json'), '{ "type": "module" }');
    // Its peers are the app's: they are here already.
    execFileSync('npm', ['install', '--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', '../package.tgz'], {
      cwd: app(),
      env: { ...process.env, npm_config_cache: join(folder, 'cache'), NODE_DISABLE_COMPILE_CACHE: '1' },
    });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const readme = readFileSync(join(installed(), 'README.md'), 'utf8');
    const examples = [...readme.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code);
    for (const [index, code] of examples.entries()) writeFileSync(join(app(), `example-${index}.ts`), code);
  }, 480_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function synthesize(example: number): (stack: string) => Template {
    const outdir = join(app(), `cdk.out-${example}`);
    execFileSync(process.execPath, [`example-${example}.ts`], {
      cwd: app(),
      env: { PATH: process.env['PATH'], HOME: folder, CDK_OUTDIR: outdir, CDK_VALIDATION: 'false' },
    });
    return stack => JSON.parse(readFileSync(join(outdir, `${stack}.template.json`), 'utf8'));
  }

  it('is one package with the code of each function', () => {
    const names = readdirSync(join(installed(), 'lib/functions'));
    expect(names.toSorted()).toEqual([...FUNCTION_NAMES].toSorted());
    for (const name of names) expect(readdirSync(join(installed(), 'lib/functions', name))).toContain('index.mjs');
  });

  it('imports nothing but its peers and Node', () => {
    const bundle = readFileSync(join(installed(), 'lib/index.mjs'), 'utf8');
    const imported = [...bundle.matchAll(/^(?:import|export)\b.*? from "([^"]+)";$|^import "([^"]+)";$/gm)].map(
      ([, from, alone]) => from ?? alone ?? '',
    );
    expect(imported).toContain('constructs');
    expect(imported.filter(name => !/^(node:|aws-cdk-lib(\/|$)|constructs$)/.test(name))).toEqual([]);
    expect(bundle).not.toMatch(/\brequire\("/);
  });

  it('has types by which its examples compile under strict rules', () => {
    const options = { strict: true, module: 'nodenext', target: 'es2022', types: ['node'], noEmit: true };
    const compilerOptions = {
      ...options,
      skipLibCheck: true,
    };
    writeFileSync(join(app(), 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const compile = (): string =>
      execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', app()], {
        encoding: 'utf8',
      });
    expect(compile()).toBe('');
    writeFileSync(
      join(app(), 'wrong.ts'),
      "import { Stack } from 'aws-cdk-lib';\nimport { Curfew } from 'curfew-cdk';\nnew Curfew(new Stack(), 'X', { name: 'X' });\n",
    );
    expect(compile).toThrow(/tsc/);
    rmSync(join(app(), 'wrong.ts'));
  });

  it('synthesizes two clusters into one stack', () => {
    const { Resources, Outputs } = synthesize(0)('Platform');
    const functions = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
    expect(functions).toHaveLength(2 * FUNCTION_NAMES.length);
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(['ProdEventBusName', 'StagingEventBusName']));
  });

  it('takes over what the app of the repository has deployed', () => {
    const templateOf = synthesize(1);
    const kept: Readonly<Record<string, object>> = JSON.parse(
      readFileSync(join(ROOT, 'test/fixtures/logical-ids.json'), 'utf8'),
    );
    for (const [stack, name] of [
      ['State', 'CurfewState'],
      ['Functions', 'Curfew'],
    ] as const) {
      const types = Object.entries(templateOf(stack).Resources).map(([id, { Type }]) => [id, Type]);
      expect(Object.fromEntries(types)).toMatchObject(kept[name] ?? {});
    }
  });
});
