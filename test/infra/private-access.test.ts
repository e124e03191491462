import { describe, expect, it } from 'vitest';
import { toConstructId } from '../../packages/curfew-cdk/src/construct-id.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { roleStatements, synthesize } from './synthesized.ts';

const privateAccess = {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['eu-west-1a', 'eu-west-1b'],
  privateSubnetIds: ['subnet-0123456789abcdefa', 'subnet-0123456789abcdefb'],
  clusterSecurityGroupId: 'sg-0123456789abcdefc',
};
const { functionsTemplate: template, report } = synthesize({ privateAccess }, { validated: true });

describe('a cluster with a private endpoint', () => {
  it('has the functions in its VPC', () => {
    template.allResourcesProperties('AWS::Lambda::Function', {
      VpcConfig: { SubnetIds: ['subnet-0123456789abcdefa', 'subnet-0123456789abcdefb'] },
    });
  });

  it("lets the functions' security group in on port 443", () => {
    template.hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      GroupId: 'sg-0123456789abcdefc',
      FromPort: 443,
      ToPort: 443,
    });
  });

  it('lets the functions out on port 443 only', () => {
    template.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupEgress: [{ CidrIp: '0.0.0.0/0', FromPort: 443, ToPort: 443, IpProtocol: 'tcp' }],
    });
  });

  it('lets Lambda make network interfaces by the roles of the functions, and denies that to their code', () => {
    const actions = [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ];
    for (const name of FUNCTION_NAMES) {
      const role = new RegExp(`^${toConstructId(name)}Role`);
      const ofInterfaces = roleStatements(template)
        .filter(each => role.test(each.role) && JSON.stringify(each.statement.Action).includes('NetworkInterface'))
        .map(({ statement }) => statement);
      expect(ofInterfaces).toMatchObject([
        // Together with what EC2 limits to no resource either.
        { Effect: 'Allow', Action: expect.arrayContaining(actions), Resource: '*' },
        {
          Effect: 'Deny',
          Action: actions,
          Resource: '*',
          Condition: { ArnLike: { 'lambda:SourceFunctionArn': expect.anything() } },
        },
      ]);
    }
  });

  it('leaves no finding of cdk-nag open either', () => {
    const conclusions = report.pluginReports.map(({ conclusion }) => conclusion);
    expect(new Set(conclusions)).toEqual(new Set(['success']));
  });

  // Lambda deletes the interfaces by the role, and CloudFormation waits for that before it goes on: docs/deploying.md.
  it('has functions that are deleted before the right to delete their network interfaces', () => {
    const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([, policy]) =>
      JSON.stringify(policy).includes('ec2:DeleteNetworkInterface'),
    );
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    const needed = functions.map(({ DependsOn }) => policies.find(([id]) => DependsOn.includes(id))?.[0]);
    expect(needed).not.toContain(undefined);
    expect(new Set(needed).size).toBe(functions.length);
  });
});
