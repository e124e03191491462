/** Synthesizes the app without bundling, so that a template test takes a second; the bundles have tests of their own. */
import { Template } from 'aws-cdk-lib/assertions';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { buildApp, type CurfewApp } from '../../infra/build-app.ts';

export interface Synthesized extends CurfewApp {
  readonly outdir: string;
  readonly stateTemplate: Template;
  readonly functionsTemplate: Template;
}

const CLUSTER = { name: 'prod', endpoint: 'https://ABC.gr7.eu-west-1.eks.amazonaws.com', certificateAuthority: 'Q0E=' };

/** `curfew` is the context value; a cluster is given unless it says otherwise. */
export function synthesize(curfew: Record<string, unknown> = { cluster: CLUSTER }): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-infra-'));
  afterAll(() => rmSync(outdir, { recursive: true, force: true }));
  const built = buildApp({ outdir, context: { curfew, 'aws:cdk:bundling-stacks': [] } });
  built.app.synth();
  return {
    ...built,
    outdir,
    stateTemplate: Template.fromStack(built.state),
    functionsTemplate: Template.fromStack(built.functions),
  };
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
