/**
 * Who may speak to the cluster, and who in the cluster may speak to the bus. An access entry only maps a role to a Kubernetes group;
 * what the group may do is RBAC, in `deploy/`. Access policies are not used: none is narrower than editing everything.
 */
import { Stack } from 'aws-cdk-lib';
import { CfnAccessEntry, CfnPodIdentityAssociation } from 'aws-cdk-lib/aws-eks';
import type { EventBus } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { FORWARDER_ACCOUNT, kubernetesGroupOf, PERMISSIONS } from '../../../shared/contract/permissions.ts';
import type { CurfewCluster } from './props.ts';
import { toConstructId } from './construct-id.ts';
import type { FunctionWithInbox } from './function-with-inbox.ts';
import { onlyFromSources } from './event-sources.ts';

export interface ClusterAccessProps {
  readonly cluster: CurfewCluster;
  readonly functions: readonly FunctionWithInbox[];
  readonly bus: EventBus;
}

export class ClusterAccess extends Construct {
  readonly forwarderRole: Role;

  constructor(scope: Construct, id: string, props: ClusterAccessProps) {
    super(scope, id);
    const { cluster, functions, bus } = props;
    for (const { functionName, role } of functions) {
      if (PERMISSIONS[functionName].kubernetes.length === 0) continue;
      new CfnAccessEntry(this, `${toConstructId(functionName)}Entry`, {
        clusterName: cluster.name,
        principalArn: role.roleArn,
        type: 'STANDARD',
        kubernetesGroups: [kubernetesGroupOf(functionName)],
      });
    }
    this.forwarderRole = createForwarderRole(this, cluster, bus);
    new CfnPodIdentityAssociation(this, 'ForwarderIdentity', {
      clusterName: cluster.name,
      namespace: FORWARDER_ACCOUNT.namespace,
      serviceAccount: FORWARDER_ACCOUNT.name,
      roleArn: this.forwarderRole.roleArn,
    });
  }
}

/**
 * The role of the forwarder. Who may associate roles with service accounts must not get it elsewhere: by the tags of its session it is the
 * forwarder's alone.
 */
function createForwarderRole(scope: Construct, cluster: CurfewCluster, bus: EventBus): Role {
  const podIdentity = new ServicePrincipal('pods.eks.amazonaws.com', {
    conditions: {
      StringEquals: {
        'aws:RequestTag/eks-cluster-arn': Stack.of(scope).formatArn({
          service: 'eks',
          resource: 'cluster',
          resourceName: cluster.name,
        }),
        'aws:RequestTag/kubernetes-namespace': FORWARDER_ACCOUNT.namespace,
        'aws:RequestTag/kubernetes-service-account': FORWARDER_ACCOUNT.name,
      },
    },
  });
  const role = new Role(scope, 'ForwarderRole', {
    assumedBy: podIdentity,
    description: 'Forwarder of Curfew, by EKS Pod Identity',
  });
  // Pod Identity tags its sessions with cluster, namespace and service account.
  role.assumeRolePolicy?.addStatements(new PolicyStatement({ principals: [podIdentity], actions: ['sts:TagSession'] }));
  role.addToPolicy(
    new PolicyStatement({
      actions: ['events:PutEvents'],
      resources: [bus.eventBusArn],
      conditions: onlyFromSources(PERMISSIONS.forwarder.publishesAs),
    }),
  );
  return role;
}
