/**
 * For clusters with a private endpoint: the functions run in the cluster's VPC, in a security group of their own that the cluster's group lets in on
 * port 443. DynamoDB (gateway) and SQS, EventBridge (interface) endpoints or a NAT are the VPC owner's: docs/deploying.md.
 */
import { CfnSecurityGroupIngress, Port, SecurityGroup, Vpc, type IVpc } from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { FunctionOptions } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { CurfewConfig } from './config.ts';

export class PrivateAccess extends Construct {
  readonly vpc: IVpc;
  readonly functionProps: Pick<FunctionOptions, 'vpc' | 'vpcSubnets' | 'securityGroups'>;

  constructor(scope: Construct, id: string, config: NonNullable<CurfewConfig['privateAccess']>) {
    super(scope, id);
    const { vpcId, availabilityZones, privateSubnetIds, clusterSecurityGroupId } = config;
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones, privateSubnetIds });
    this.vpc = vpc;
    const securityGroup = new SecurityGroup(this, 'Functions', {
      vpc,
      description: 'Functions of Curfew',
      allowAllOutbound: false,
    });
    // To the API server and to the endpoints of AWS services; nothing else speaks to anybody.
    securityGroup.connections.allowToAnyIpv4(Port.HTTPS, 'API server and AWS endpoints');
    new CfnSecurityGroupIngress(this, 'ClusterIngress', {
      groupId: clusterSecurityGroupId,
      sourceSecurityGroupId: securityGroup.securityGroupId,
      ipProtocol: 'tcp',
      fromPort: 443,
      toPort: 443,
      description: 'Functions of Curfew',
    });
    this.functionProps = {
      vpc,
      vpcSubnets: { subnets: vpc.privateSubnets },
      securityGroups: [securityGroup],
    };
  }

  /** What Lambda needs to put a function into a VPC; EC2 has no resource-level permissions for the two describing and assigning calls. */
  allowNetworkInterfaces(role: Role): void {
    role.addToPolicy(
      new PolicyStatement({
        actions: [
          'ec2:CreateNetworkInterface',
          'ec2:DescribeNetworkInterfaces',
          'ec2:DeleteNetworkInterface',
          'ec2:AssignPrivateIpAddresses',
          'ec2:UnassignPrivateIpAddresses',
        ],
        resources: ['*'],
      }),
    );
  }
}
