import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const APP = join(import.meta.dirname, '../../infra/app.ts');
const WITHOUT_BUNDLES = { 'aws:cdk:bundling-stacks': [] };

/** Names of the stacks that `node infra/app.ts` synthesizes in a folder with this `cdk.context.json`. */
function stackNames(contextFile: string | undefined, given?: Readonly<Record<string, unknown>>): readonly string[] {
  const cwd = mkdtempSync(join(tmpdir(), 'curfew-synth-'));
  try {
    if (contextFile !== undefined) writeFileSync(join(cwd, 'cdk.context.json'), contextFile);
    const { CDK_CONTEXT_JSON: _, ...env } = process.env;
    const fromCli = given && { CDK_CONTEXT_JSON: JSON.stringify(given) };
    const outdir = { CDK_OUTDIR: join(cwd, 'cdk.out'), CDK_VALIDATION: 'false' };
    execFileSync(process.execPath, [APP], { cwd, env: { ...env, ...outdir, ...fromCli }, stdio: 'pipe' });
    expect(existsSync(join(cwd, 'cdk.out/Functions.template.json'))).toBe(true);
    const { artifacts } = JSON.parse(readFileSync(join(cwd, 'cdk.out/manifest.json'), 'utf8'));
    return ['State', 'Functions'].map(id => artifacts[id].properties.stackName);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

describe('node infra/app.ts', () => {
  it('reads cdk.context.json as the CDK CLI does', () => {
    const context = JSON.stringify({ curfew: { name: 'Staging' }, ...WITHOUT_BUNDLES });
    expect(stackNames(context)).toEqual(['StagingState', 'Staging']);
  });

  it('leaves it to the CLI where that gives the context', () => {
    const context = JSON.stringify({ curfew: { name: 'Staging' } });
    expect(stackNames(context, WITHOUT_BUNDLES)).toEqual(['CurfewState', 'Curfew']);
  });

  it('says of a key that is not valid its name, and no more', () => {
    const context = JSON.stringify({ curfew: { nmae: 'Staging' } });
    let said = '';
    try {
      stackNames(context);
    } catch (error) {
      said = String(Reflect.get(Object(error), 'stderr'));
    }
    expect(said).toMatch(
      /^the CDK context is not valid:\n {2}curfew\.nmae: unknown key; there are name, env, [\w, ]+\n$/,
    );
  });

  it('says which file is no JSON', () => {
    expect(() => stackNames('{')).toThrow(/cdk\.context\.json must be a JSON object/);
  });
});
