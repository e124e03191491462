import { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildApp } from '../../infra/build-app.ts';

const reportSchema = z.object({
  pluginReports: z.array(
    z.object({
      pluginName: z.string(),
      conclusion: z.enum(['success', 'failure']),
      violations: z.array(z.object({ ruleName: z.string() })),
    }),
  ),
});

const PRIVATE_ACCESS = {
  vpcId: 'vpc-01234567',
  availabilityZones: ['a', 'b'],
  privateSubnetIds: ['subnet-01234567', 'subnet-76543210'],
  clusterSecurityGroupId: 'sg-01234567',
};

function audit(
  change: (built: ReturnType<typeof buildApp>) => void,
  curfew: Readonly<Record<string, unknown>> = {},
): z.infer<typeof reportSchema>['pluginReports'] {
  const outdir = mkdtempSync(join(tmpdir(), 'curfew-nag-'));
  try {
    const built = buildApp({ outdir, context: { curfew, 'aws:cdk:bundling-stacks': [] } });
    change(built);
    try {
      built.app.synth();
    } catch {
      // Synthesis fails on a finding; the report is read either way.
    }
    return reportSchema.parse(JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'))).pluginReports;
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

describe('cdk-nag', () => {
  it('has no finding that is not acknowledged, in both packs', () => {
    const reports = audit(() => {});
    const open = reports.filter(({ conclusion }) => conclusion === 'failure');
    expect(open).toEqual([]);
    expect(reports.map(({ pluginName }) => pluginName)).toEqual(expect.arrayContaining(['AwsSolutions', 'Serverless']));
  });

  // The ARNs in the findings are then literals, and those of other partitions begin otherwise.
  it.each(['eu-west-1', 'us-gov-west-1', 'cn-north-1', 'eusc-de-east-1', 'us-iso-east-1'])(
    'has none either where account and Region are configured: %s',
    region => {
      const reports = audit(() => {}, { env: { account: '123456789012', region }, privateAccess: PRIVATE_ACCESS });
      expect(reports.filter(({ conclusion }) => conclusion === 'failure')).toEqual([]);
    },
  );

  it('has none with every key that adds something', () => {
    const topics = { page: 'arn:aws:sns:eu-west-1:123456789012:page' };
    const roles = ['arn:aws:iam::123456789012:role/monitor'];
    const reports = audit(() => {}, {
      env: { account: '123456789012', region: 'eu-west-1' },
      alarmTopics: topics,
      encryptionKeyArn: 'arn:aws:kms:eu-west-1:123456789012:key/0f8fad5b-d9cb-469f-a165-70867728950e',
      drainPrincipals: roles,
      operatorPrincipals: roles,
      drainSources: ['nvsentinel'],
      hookFunctions: ['deregister'],
    });
    expect(reports.filter(({ conclusion }) => conclusion === 'failure')).toEqual([]);
  });

  it('finds what a new resource does wrong', () => {
    const reports = audit(({ state }) => new CfnQueue(state, 'Careless'));
    expect(reports.flatMap(({ violations }) => violations.map(({ ruleName }) => ruleName))).toEqual(
      expect.arrayContaining(['AwsSolutions-SQS3', 'AwsSolutions-SQS4']),
    );
  });
});
