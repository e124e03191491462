/** The context key `curfew` as props of the construct. */
import { CfnParameter, Validations } from 'aws-cdk-lib';
import { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key, type IKey } from 'aws-cdk-lib/aws-kms';
import { Topic, type ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { CurfewCluster, CurfewPrivateAccess, CurfewProps } from '../packages/curfew-cdk/src/props.ts';
import { CLUSTER_PARAMETERS } from '../shared/contract/env.ts';
import type { CurfewConfig } from './config.ts';

/** The key as a stack sees it; undefined where AWS's own are used. */
export function encryptionKeyOf(scope: Construct, { encryptionKeyArn }: CurfewConfig): IKey | undefined {
  return encryptionKeyArn === undefined ? undefined : Key.fromKeyArn(scope, 'EncryptionKey', encryptionKeyArn);
}

export function propsOf(scope: Construct, config: CurfewConfig): CurfewProps {
  const { cluster, privateAccess, logRetentionDays, alarmTopics, env: _, encryptionKeyArn: __, ...same } = config;
  const topicOf = (id: string, arn: string | undefined): ITopic | undefined =>
    arn === undefined ? undefined : Topic.fromTopicArn(scope, id, arn);
  return {
    ...same,
    cluster: cluster ?? askForCluster(scope),
    logRetention: logRetentionDays,
    privateAccess: privateAccess && privateAccessOf(scope, privateAccess),
    alarmTopics: alarmTopics && {
      page: topicOf('PageTopic', alarmTopics.page),
      ticket: topicOf('TicketTopic', alarmTopics.ticket),
    },
  };
}

/** By CloudFormation parameters without a default, which must be given to the deployment. */
function askForCluster(scope: Construct): CurfewCluster {
  const ask = (id: string, description: string, allowedPattern: string, constraintDescription: string) =>
    new CfnParameter(scope, id, { type: 'String', minLength: 1, description, allowedPattern, constraintDescription })
      .valueAsString;
  return {
    name: ask(
      CLUSTER_PARAMETERS.name,
      'Name of the EKS cluster',
      '^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$',
      'must be the name of an EKS cluster',
    ),
    endpoint: ask(
      CLUSTER_PARAMETERS.endpoint,
      'URL of its API server: cluster.endpoint of `aws eks describe-cluster`',
      '^https://[A-Za-z0-9.:-]+/?$',
      'must be a URL that begins with https://',
    ),
    certificateAuthority: ask(
      CLUSTER_PARAMETERS.certificateAuthority,
      'cluster.certificateAuthority.data of `aws eks describe-cluster`',
      '^[A-Za-z0-9+/]+={0,2}$',
      'must be base64, as `aws eks describe-cluster` prints it',
    ),
  };
}

function privateAccessOf(
  scope: Construct,
  { clusterSecurityGroupId, ...attributes }: NonNullable<CurfewConfig['privateAccess']>,
): CurfewPrivateAccess {
  const vpc = Vpc.fromVpcAttributes(scope, 'Vpc', attributes);
  for (const subnet of vpc.privateSubnets) {
    Validations.of(subnet).acknowledge({
      id: 'Annotation::@aws-cdk/aws-ec2:noSubnetRouteTableId',
      reason: 'No route is added: the route table is never asked for.',
    });
  }
  return { vpc, clusterSecurityGroup: SecurityGroup.fromSecurityGroupId(scope, 'Cluster', clusterSecurityGroupId) };
}
