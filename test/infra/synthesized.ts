/** Synthesizes the app without bundling, so that a template test takes a second; the bundles have tests of their own. */
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { buildApp, type CurfewApp } from '../../infra/build-app.ts';

export interface Synthesized extends CurfewApp {
  readonly stateTemplate: Template;
  readonly functionsTemplate: Template;
  /** `validation-report.json`: the findings of cdk-nag, and of CloudFormation's own rules where they were asked for. */
  readonly report: { readonly pluginReports: readonly { readonly conclusion: string }[] };
}

const CLUSTER = {
  name: 'prod',
  endpoint: 'https://ABC.gr7.eu-west-1.eks.amazonaws.com',
  certificateAuthority: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
};

/** By context: files that run in one worker share what is the same. */
const known = new Map<string, Synthesized>();

/**
 * `curfew` is the context value; a cluster is given unless it says otherwise. What is answered is only read. CloudFormation's own rules
 * take seconds: they are asked for.
 */
export function synthesize(
  curfew: Record<string, unknown> = { cluster: CLUSTER },
  { validated = false }: { readonly validated?: boolean } = {},
): Synthesized {
  const key = JSON.stringify([curfew, validated]);
  const synthesized = known.get(key) ?? synthesizeAnew(curfew, validated);
  known.set(key, synthesized);
  return synthesized;
}

function synthesizeAnew(curfew: Record<string, unknown>, validated: boolean): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-infra-'));
  vi.stubEnv('CDK_VALIDATION', String(validated));
  try {
    const built = buildApp({ outdir, context: { curfew, 'aws:cdk:bundling-stacks': [] } });
    built.app.synth();
    return {
      ...built,
      stateTemplate: Template.fromStack(built.stateStack),
      functionsTemplate: Template.fromStack(built.functionsStack),
      report: JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')),
    };
  } finally {
    vi.unstubAllEnvs();
    rmSync(outdir, { recursive: true, force: true });
  }
}

export interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** Statements of all inline policies of roles, with the role's logical id. */
export function roleStatements(template: Template): { role: string; statement: Statement }[] {
  return Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
    ({ Properties: { Roles, PolicyDocument } }) =>
      PolicyDocument.Statement.map((statement: Statement) => ({ role: Roles[0].Ref, statement })),
  );
}
