/**
 * For clusters with a private endpoint: the functions run in the cluster's VPC, in a security group of their own that the cluster's group lets in on
 * port 443. Endpoints of AWS services or a NAT are the VPC owner's: docs/deploying.md.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import { CfnSecurityGroupIngress, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Effect, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { CurfewPrivateAccess } from './props.ts';

const NETWORK_INTERFACE_ACTIONS = [
  'ec2:CreateNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:DeleteNetworkInterface',
  'ec2:AssignPrivateIpAddresses',
  'ec2:UnassignPrivateIpAddresses',
] as const;

export class PrivateAccess extends Construct {
  readonly functionProps: Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;

  constructor(scope: Construct, id: string, { vpc, subnets, clusterSecurityGroup }: CurfewPrivateAccess) {
    super(scope, id);
    const securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Functions of Curfew',
      allowAllOutbound: false,
    });
    // To the API server and to the endpoints of AWS services; nothing else speaks to anybody.
    securityGroup.connections.allowToAnyIpv4(Port.HTTPS, 'API server and AWS endpoints');
    new CfnSecurityGroupIngress(this, 'ClusterIngress', {
      groupId: clusterSecurityGroup.securityGroupId,
      sourceSecurityGroupId: securityGroup.securityGroupId,
      ipProtocol: 'tcp',
      fromPort: 443,
      toPort: 443,
      description: 'Functions of Curfew',
    });
    this.functionProps = {
      vpc,
      vpcSubnets: { subnets: [...(subnets ?? vpc.privateSubnets)] },
      securityGroups: [securityGroup],
    };
  }

  /**
   * What Lambda needs to put a function into a VPC, by the role of the function; the permissions are those of the managed policy
   * `AWSLambdaVPCAccessExecutionRole`. EC2 limits some of them to no resource, so the function's own code, whose calls carry
   * `lambda:SourceFunctionArn`, is denied what Lambda may do.
   */
  allowNetworkInterfaces(role: Role): void {
    const calls = { actions: [...NETWORK_INTERFACE_ACTIONS], resources: ['*'] };
    role.addToPolicy(new PolicyStatement(calls));
    const anyFunction = Stack.of(this).formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName: '*',
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    role.addToPolicy(
      new PolicyStatement({
        ...calls,
        effect: Effect.DENY,
        conditions: { ArnLike: { 'lambda:SourceFunctionArn': anyFunction } },
      }),
    );
  }
}
