import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import packageFile from '../../../package.json' with { type: 'json' };
import { startAwsControlPlane, type AwsControlPlane } from '../../fakes/aws-control-plane.ts';
import { runHere } from '../run-curfew.ts';

let plane: AwsControlPlane;
beforeAll(async () => {
  plane = await startAwsControlPlane();
  for (const [key, value] of Object.entries(plane.environment)) vi.stubEnv(key, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await plane.stop();
});

const { version } = packageFile;
const args = ['--version', '--stack', 'Curfew'];

it('says its own version without a deployment', async () => {
  expect(await runHere(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it('compares itself with a deployment', async () => {
  plane.outputs.set('Version', version);
  expect(await runHere(args)).toEqual({ code: 0, stdout: `curfew ${version}\nCurfew ${version}\n`, stderr: '' });
  plane.outputs.set('Version', '9.0.0');
  expect(await runHere(args)).toEqual({
    code: 1,
    stdout: `curfew ${version}\nCurfew 9.0.0\n`,
    stderr: `they differ: use curfew 9.0.0, or deploy ${version}\n`,
  });
  plane.outputs.delete('Version');
  expect(await runHere(args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no Version in its outputs'),
  });
});

it('reads one of several deployments in a stack, named behind it', async () => {
  plane.outputs.set('ProdVersion', version).set('StagingVersion', '9.0.0');
  const of = (stack: string) => runHere(['--version', '--stack', stack]);
  expect(await of('Curfew/Prod')).toMatchObject({ code: 0, stdout: `curfew ${version}\nCurfew/Prod ${version}\n` });
  expect(await of('Curfew/Staging')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('Curfew/Staging 9.0.0'),
  });
  expect(await of('Curfew/Other')).toMatchObject({ code: 2 });
});

it('refuses what it does not know', async () => {
  expect(await runHere(['--version', '--stacks', 'x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("unknown option '--stacks'"),
  });
});
