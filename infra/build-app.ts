/** The whole app as a value, so that tests synthesize what `app.ts` deploys. */
import { App, Stack, Tags, Validations, type IReusableStackSynthesizer } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CurfewState } from '../packages/curfew-cdk/src/curfew-state.ts';
import { Curfew } from '../packages/curfew-cdk/src/curfew.ts';
import { FUNCTION_NAMES } from '../shared/contract/names.ts';
import { bundleFunctions, withoutBundles } from './bundling.ts';
import { CONTEXT_KEY, parseConfig, STATE_STACK_SUFFIX } from './config.ts';
import { encryptionKeyOf, propsOf } from './props.ts';

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
  /** What outlives the other. */
  readonly stateStack: Stack;
  readonly state: CurfewState;
  readonly functionsStack: Stack;
  readonly curfew: Curfew;
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
  const stateStack = new Stack(app, 'State', {
    ...stackProps,
    stackName: `${config.name}${STATE_STACK_SUFFIX}`,
    description: 'Curfew: what must outlive a deployment',
    terminationProtection: true,
  });
  // Under the id `Default` logical ids do not name the construct: those of a stack that holds nothing else.
  const encryptionKey = encryptionKeyOf(stateStack, config);
  const state = new CurfewState(stateStack, 'Default', { name: config.name, encryptionKey });
  // Also while functions use a restored one: CloudFormation takes no export away that is in use, nor would it come back in time.
  stateStack.exportValue(state.table.tableName);
  stateStack.exportValue(state.table.tableArn);
  const functionsStack = new Stack(app, 'Functions', {
    ...stackProps,
    stackName: config.name,
    description: 'Curfew: functions, routing and alarms',
  });
  const handlersDir = options.handlersDir ?? join(REPOSITORY, 'functions');
  using bundles = functionsStack.bundlingRequired
    ? bundleFunctions(handlersDir, FUNCTION_NAMES, app.outdir)
    : withoutBundles(handlersDir);
  const code = (functionName: string) => bundles.of(functionName);
  const curfew = new Curfew(functionsStack, 'Default', { ...propsOf(functionsStack, config), state, code });
  Tags.of(app).add('app.kubernetes.io/name', 'curfew');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
  return { app, stateStack, state, functionsStack, curfew };
}
