/** Entry of the CDK app: `node infra/app.ts` synthesizes into `cdk.out`; the CDK CLI runs the same. */
import { buildApp } from './build-app.ts';

buildApp().app.synth();
