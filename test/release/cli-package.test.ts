/** The released command line in an empty folder, where there is Node and npm, and no network. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { cliPackage } from '../../release/cli/package.ts';
import { packagesIn } from '../../release/packages.ts';

describe('the released command line', () => {
  let folder = '';
  let bundled: ReadonlySet<string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'curfew-cli-'));
    const { archive, metafile } = await cliPackage();
    bundled = packagesIn(metafile);
    writeFileSync(join(folder, 'package.tgz'), archive);
    mkdirSync(join(folder, 'empty'));
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', '../package.tgz'], {
      cwd: join(folder, 'empty'),
      env: { ...process.env, npm_config_cache: join(folder, 'cache'), NODE_DISABLE_COMPILE_CACHE: '1' },
    });
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const EXAMPLES = 'node_modules/curfew-cli/examples';
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(join(folder, 'empty/node_modules/.bin/curfew'), args, {
      cwd: join(folder, 'empty'),
      encoding: 'utf8',
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder },
    });
    return { status, stdout, stderr };
  };

  it('is one package', () => {
    const installed = readdirSync(join(folder, 'empty/node_modules')).filter(name => !name.startsWith('.'));
    expect(installed).toEqual(['curfew-cli']);
    expect(run('--version')).toMatchObject({ status: 0, stdout: `${packageFile.version}\n` });
  });

  it('has no CDK, no database and no bundler in it, and the terms of what it has', () => {
    const unwanted = /aws-cdk|constructs|postgres|\/pg$|dynoxide|dynalite|fauxqs|esbuild|aws-lambda-ric|playwright/;
    expect([...bundled].filter(name => unwanted.test(name))).toEqual([]);
    const notices = readFileSync(join(folder, 'empty/node_modules/curfew-cli/THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const name of bundled) expect(notices).toContain(`${name.replace(/^.*node_modules\//, '')} `);
  });

  it('simulates, and draws the page', () => {
    const { status, stdout, stderr } = run('simulate', `${EXAMPLES}/bad-day.yaml`, '--no-writes', '--html', 'day.html');
    expect([status, stderr.split('\n').at(-2)]).toEqual([0, 'the page is day.html']);
    expect(stdout).toContain('24 h, 19 nodes: ');
    expect(readFileSync(join(folder, 'empty/day.html'), 'utf8')).toMatch(
      /^<!doctype html>[^]*@font-face[^]*<\/html>\n$/,
    );
  });

  it('validates', () => {
    expect(run('validate', EXAMPLES)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('NodeLifecyclePolicy batch is valid'),
    });
    writeFileSync(
      join(folder, 'empty/bad.yaml'),
      'apiVersion: curfew.dev/v1alpha1\nkind: NodeLifecyclePolicy\nspec: { repairs: {} }\n',
    );
    expect(run('validate', 'bad.yaml').status).toBe(1);
  });

  it.each(['start', 'swarm', 'explore'])('says where %s runs', command => {
    expect(run(command)).toMatchObject({ status: 2, stderr: expect.stringContaining('runs from the repository') });
  });

  it('says which Node it needs to one that is older', () => {
    const old = ['/usr/bin/node', '/usr/local/bin/node'].find(
      node => existsSync(node) && Number(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.slice(1, 3)) < 24,
    );
    if (old === undefined) return;
    const bin = join(folder, 'empty/node_modules/curfew-cli/bin/curfew.js');
    const { status, stderr } = spawnSync(old, [bin, '--version'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringContaining('curfew needs Node 24 or later, this is v')]);
  });
});
