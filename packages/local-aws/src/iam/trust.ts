/**
 * Whether the roles of a template serve for what takes them. AWS asks when a function, an event source, a schedule or a Pod Identity association is
 * made, and fails the deployment.
 */
import type { AwsModel, PodIdentityModel, RoleModel, ScheduleModel } from '../model.ts';
import { isAllowed, type AccessRequest } from './evaluate.ts';

/** What Lambda calls by the role of a function to work for its event source. */
const EVENT_SOURCE_ACTIONS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

/** Throws an Error with the first role that AWS would refuse while it deploys. */
export function checkRoles(model: AwsModel): void {
  const refuse = (what: string, why: string): never => {
    throw new Error(`AWS would refuse ${what}: ${why}`);
  };
  const take = (what: string, { roleArn, service, actions = ['sts:AssumeRole'], context = {} }: Taking): RoleModel => {
    const role = model.roles.find(({ arn }) => arn === roleArn) ?? refuse(what, `there is no role ${roleArn}`);
    const missing = actions.find(action => !trusts(role, service, { action, resource: role.arn, context }));
    if (missing === undefined) return role;
    return refuse(what, `the trust policy of ${role.name} gives ${service} no ${missing}`);
  };
  for (const { physicalName, roleArn } of model.functions) {
    const role = take(`function ${physicalName}`, { roleArn, service: 'lambda.amazonaws.com' });
    for (const { queueName } of model.eventSources.filter(({ functionName }) => functionName === physicalName)) {
      const resource = queueArnOf(model, queueName);
      const missing = EVENT_SOURCE_ACTIONS.find(
        action => !isAllowed(role.statements, { action, resource, context: {} }),
      );
      if (missing !== undefined) refuse(`the event source of ${physicalName}`, `${role.name} has no ${missing}`);
    }
  }
  for (const { name, roleArn, groupName } of model.schedules) {
    const group = `arn:aws:scheduler:${model.region}:${model.account}:schedule-group/${groupName}`;
    const context = { 'aws:SourceAccount': [model.account], 'aws:SourceArn': [group] };
    take(`schedule ${name}`, { roleArn, service: 'scheduler.amazonaws.com', context });
  }
  for (const identity of model.podIdentities) {
    const { namespace, serviceAccount, roleArn } = identity;
    const actions = ['sts:AssumeRole', 'sts:TagSession'];
    const context = sessionTags(model, identity);
    take(`the identity of ${namespace}/${serviceAccount}`, {
      roleArn,
      service: 'pods.eks.amazonaws.com',
      actions,
      context,
    });
  }
}

/** What Pod Identity says of every session; the tags of the one pod are left out, since no policy can know them. */
function sessionTags(
  { region, account }: Pick<AwsModel, 'region' | 'account'>,
  { clusterName, namespace, serviceAccount }: PodIdentityModel,
): AccessRequest['context'] {
  return {
    'aws:RequestTag/eks-cluster-arn': [`arn:aws:eks:${region}:${account}:cluster/${clusterName}`],
    'aws:RequestTag/eks-cluster-name': [clusterName],
    'aws:RequestTag/kubernetes-namespace': [namespace],
    'aws:RequestTag/kubernetes-service-account': [serviceAccount],
  };
}

/** A service takes a role; with a context by which the trust policy may know what for. */
interface Taking {
  readonly roleArn: string;
  readonly service: string;
  readonly actions?: readonly string[];
  readonly context?: AccessRequest['context'];
}

const trusts = ({ trust }: RoleModel, service: string, request: AccessRequest): boolean =>
  isAllowed(
    trust.filter(({ services }) => services.includes(service)).map(({ statement }) => statement),
    request,
  );

/** Whether the role of a schedule lets it send to its queue. Without it AWS drops the message, and only a metric tells. */
export function mayBeSent(model: Pick<AwsModel, 'roles' | 'queues'>, schedule: ScheduleModel): boolean {
  const role = model.roles.find(({ arn }) => arn === schedule.roleArn);
  const request = { action: 'sqs:SendMessage', resource: queueArnOf(model, schedule.queueName), context: {} };
  return role !== undefined && isAllowed(role.statements, request);
}

const queueArnOf = ({ queues }: Pick<AwsModel, 'queues'>, queueName: string): string =>
  queues.find(({ name }) => name === queueName)?.arn ?? queueName;
