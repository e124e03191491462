/**
 * The bridge on AWS: `npx cdk --app "node examples/slurm-drain/infra.ts" deploy`. Events of the custom resource and a minute tick go into one queue;
 * the function looks once for up to ten that wait. It runs in the VPC, where slurmrestd is, and reads slurm.conf and its token from EFS.
 */
import { App, CfnParameter, Duration, Fn, Stack } from 'aws-cdk-lib';
import { CfnSecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Repository } from 'aws-cdk-lib/aws-ecr';
import { CfnAccessEntry } from 'aws-cdk-lib/aws-eks';
import { EventBus, Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { Architecture, CfnFunction, DockerImageCode, DockerImageFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { pathToFileURL } from 'node:url';
import { ENV } from '../../shared/contract/env.ts';
import { DRAIN_RESOURCE_CHANGED, SOURCES } from '../../shared/contract/names.ts';

/** The group in manifests/rbac.yaml. */
const KUBERNETES_GROUP = 'slurm-bridge';
const MOUNT = '/mnt/slurm';

export function buildStack(app: App): Stack {
  const stack = new Stack(app, 'SlurmBridge');
  const ask = (id: string, description: string, type = 'String'): CfnParameter =>
    new CfnParameter(stack, id, { type, description });
  const clusterName = ask('ClusterName', 'Name of the EKS cluster').valueAsString;
  const repository = ask('Repository', 'ECR repository of the image that examples/slurm-drain/Dockerfile makes');
  const vpc = ask('Vpc', 'VPC of slurmrestd', 'AWS::EC2::VPC::Id').valueAsString;
  const subnets = ask(
    'Subnets',
    'Subnets that reach slurmrestd and the EKS endpoint',
    'List<AWS::EC2::Subnet::Id>',
  ).valueAsList;
  const accessPoint = ask('AccessPoint', 'ARN of the EFS access point with slurm.conf and token').valueAsString;
  const slurmrestd = ask('Slurmrestd', 'http://HOST:PORT of slurmrestd').valueAsString;

  const deadLetterQueue = new Queue(stack, 'DeadLetters', {
    enforceSSL: true,
    fifo: true,
    retentionPeriod: Duration.days(14),
  });
  const queue = new Queue(stack, 'Inbox', {
    enforceSSL: true,
    fifo: true,
    contentBasedDeduplication: true,
    // After a pass that failed nothing is looked at for this long: all messages are in one group.
    visibilityTimeout: Duration.seconds(90),
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: 20 },
  });
  const fn = new DockerImageFunction(stack, 'Bridge', {
    description: 'Drains Slurm nodes for SlurmDrainRequests',
    code: DockerImageCode.fromEcr(Repository.fromRepositoryName(stack, 'Images', repository.valueAsString)),
    architecture: Architecture.ARM_64,
    memorySize: 512,
    timeout: Duration.minutes(1),
    // Passes must not overlap: Slurm has no compare-and-set. The queue's one message group sees to that; this is for calls by hand.
    reservedConcurrentExecutions: 1,
    environment: {
      [ENV.clusterName]: clusterName,
      [ENV.clusterEndpoint]: ask('ClusterEndpoint', 'URL of its API server').valueAsString,
      [ENV.clusterCertificateAuthority]: ask('ClusterCertificateAuthority', 'PEM of its CA in base64').valueAsString,
      SLURMRESTD_URL: slurmrestd,
      SLURM_CONF: `${MOUNT}/slurm.conf`,
      SLURM_TOKEN_FILE: `${MOUNT}/token`,
    },
  });
  const group = new CfnSecurityGroup(stack, 'Traffic', { groupDescription: 'Slurm bridge', vpcId: vpc });
  const resource = fn.node.defaultChild;
  if (!(resource instanceof CfnFunction)) throw new TypeError('a function is made of a CfnFunction');
  resource.vpcConfig = { subnetIds: subnets, securityGroupIds: [group.attrGroupId] };
  resource.fileSystemConfigs = [{ arn: accessPoint, localMountPath: MOUNT }];
  for (const policy of [
    'service-role/AWSLambdaVPCAccessExecutionRole',
    'AmazonElasticFileSystemClientReadOnlyAccess',
  ]) {
    fn.role?.addManagedPolicy(ManagedPolicy.fromAwsManagedPolicyName(policy));
  }
  fn.addEventSource(new SqsEventSource(queue, { batchSize: 10 }));
  new CfnAccessEntry(stack, 'Access', {
    clusterName,
    principalArn: fn.role?.roleArn ?? Fn.ref('AWS::NoValue'),
    type: 'STANDARD',
    kubernetesGroups: [KUBERNETES_GROUP],
  });

  const bus = EventBus.fromEventBusName(
    stack,
    'Bus',
    ask('EventBusName', 'Output EventBusName of Curfew').valueAsString,
  );
  // One group: Lambda passes its messages on by one invocation at a time. What cannot be delivered the next tick makes up for.
  const target = new SqsQueue(queue, { messageGroupId: 'look' });
  new Rule(stack, 'Requests', {
    eventBus: bus,
    eventPattern: {
      source: [SOURCES.forwarder],
      detailType: [DRAIN_RESOURCE_CHANGED],
      detail: { cluster: [clusterName] },
    },
    targets: [target],
  });
  new Rule(stack, 'Tick', { schedule: Schedule.rate(Duration.minutes(1)), targets: [target] });
  return stack;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const app = new App();
  buildStack(app);
  app.synth();
}
