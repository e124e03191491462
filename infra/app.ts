/** Entry of the CDK app: `node infra/app.ts` synthesizes into `cdk.out`; the CDK CLI runs the same. */
import { buildApp } from './build-app.ts';
import { readContextFile } from './context-file.ts';

// The CLI reads the file itself, and gives all of the context.
const context = process.env['CDK_CONTEXT_JSON'] === undefined ? readContextFile('cdk.context.json') : {};
buildApp({ context }).app.synth();
