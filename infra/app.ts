/** Entry of the CDK app: `node infra/app.ts` synthesizes into `cdk.out`; the CDK CLI runs the same. */
import { buildApp } from './build-app.ts';
import { InvalidContext, readContextFile } from './context-file.ts';

try {
  // The CLI reads the file itself, and gives all of the context.
  const context = process.env['CDK_CONTEXT_JSON'] === undefined ? readContextFile('cdk.context.json') : {};
  const { directory } = buildApp({ context }).app.synth();
  process.stdout.write(`synthesized into ${directory}\n`);
} catch (error) {
  if (!(error instanceof InvalidContext)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
