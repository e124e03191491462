import { expect, it } from 'vitest';
import { synthesisFailure } from '../../cli/start/synthesize.ts';
import { UsageError } from '../../cli/usage-error.ts';

it.each([
  [
    'Error: The package "@esbuild/linux-x64" could not be found, and is needed by esbuild.\n    at file.js:1',
    /^the package @esbuild\/linux-x64 is not installed: run `npm ci --include=dev --include=optional` in /,
  ],
  [
    '✘ [ERROR] Failed to write to output file: write /t/run/cdk.out/a.mjs: no space left on device\n\nnode:internal',
    /^no space is left for temporary files in \/t\/run\/cdk\.out: free some, or set TMPDIR$/,
  ],
])('says what the user can put right, without a stack trace: %s', (output, message) => {
  const failure = synthesisFailure(output, '/t/run/cdk.out');
  expect(failure).toBeInstanceOf(UsageError);
  expect(failure.message).toMatch(message);
});

it('gives what anything else said in full', () => {
  const failure = synthesisFailure('Error: curfew.name is not valid\n', '/t');
  expect(failure).not.toBeInstanceOf(UsageError);
  expect(failure.message).toBe('the CDK app cannot be synthesized:\nError: curfew.name is not valid');
});
