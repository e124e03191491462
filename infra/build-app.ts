/** The whole app as a value, so that tests synthesize what `app.ts` deploys. */
import { App, Tags, Validations, type IReusableStackSynthesizer } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { acknowledgeFindings } from './acknowledgements.ts';
import { CONTEXT_KEY, parseConfig, STATE_STACK_SUFFIX } from './config.ts';
import { FunctionsStack } from './functions-stack.ts';
import { StateStack } from './state-stack.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const cdkJson = z.object({ context: z.record(z.string(), z.unknown()) });

export interface BuildOptions {
  /** Default: `CDK_OUTDIR`, else `cdk.out` of the repository. */
  readonly outdir?: string;
  /** Wins over `cdk.json` and loses against the CLI's `-c`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Folder that holds `<function>/handler.ts`. */
  readonly handlersDir?: string;
  /** How the templates find the code. Default: as `cdk bootstrap` makes it. */
  readonly synthesizer?: IReusableStackSynthesizer | undefined;
}

export interface CurfewApp {
  readonly app: App;
  readonly state: StateStack;
  readonly functions: FunctionsStack;
}

/** Throws with what is wrong when the context is not valid. Needs no account, network or Docker. */
export function buildApp(options: BuildOptions = {}): CurfewApp {
  const app = new App({
    outdir: options.outdir ?? process.env['CDK_OUTDIR'] ?? join(REPOSITORY, 'cdk.out'),
    analyticsReporting: false,
    ...(options.synthesizer && { defaultStackSynthesizer: options.synthesizer }),
    // Run by plain `node`, nobody else reads cdk.json: the feature flags must be the same either way.
    context: {
      ...cdkJson.parse(JSON.parse(readFileSync(join(REPOSITORY, 'cdk.json'), 'utf8'))).context,
      ...options.context,
    },
  });
  const config = parseConfig(app.node.tryGetContext(CONTEXT_KEY));
  const stackProps = config.env === undefined ? {} : { env: config.env };
  const state = new StateStack(app, 'State', {
    ...stackProps,
    stackName: `${config.name}${STATE_STACK_SUFFIX}`,
    name: config.name,
    encryptionKeyArn: config.encryptionKeyArn,
    description: 'Curfew: what must outlive a deployment',
  });
  const functions = new FunctionsStack(app, 'Functions', {
    ...stackProps,
    stackName: config.name,
    description: 'Curfew: functions, routing and alarms',
    config,
    state,
    handlersDir: options.handlersDir ?? join(REPOSITORY, 'functions'),
    cdkOut: app.outdir,
  });
  Tags.of(app).add('app.kubernetes.io/name', 'curfew');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  acknowledgeFindings({ state, functions });
  return { app, state, functions };
}
