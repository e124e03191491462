/** Checks what EKS knows of the deployment: the way in, access entries, the identity of the forwarder. */
import {
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  EKSClient,
  ListPodIdentityAssociationsCommand,
} from '@aws-sdk/client-eks';
import { ENV } from '../../shared/contract/env.ts';
import { FORWARDER_ACCOUNT, kubernetesGroupOf, PERMISSIONS } from '../../shared/contract/permissions.ts';
import type { ClientOptions } from '../operate/deployment.ts';
import { failed, ok, type Check } from './finding.ts';
import type { RunningFunction } from './parts.ts';

const DEPLOY_DRIFT =
  'npx cdk deploy --all --revert-drift (a cluster that was created again under its name has lost it)';

const OTHER_CLUSTER = 'correct cluster.name in cdk.context.json and deploy, from the account and Region of the cluster';

export function checksOfClusterAccess(
  clusterName: string,
  functions: readonly RunningFunction[],
  options: ClientOptions,
): readonly Check[] {
  const eks = new EKSClient(options);
  return [
    {
      subject: `cluster ${clusterName}`,
      needs: 'eks:DescribeCluster',
      whenMissing: OTHER_CLUSTER,
      look: async () => {
        const subject = `cluster ${clusterName}`;
        const { cluster } = await eks.send(new DescribeClusterCommand({ name: clusterName }));
        const mode = cluster?.accessConfig?.authenticationMode ?? 'unknown';
        const known = functions.map(({ variables }) => variables[ENV.clusterEndpoint]).find(url => url !== undefined);
        return [
          mode.startsWith('API')
            ? ok(subject, `authentication mode ${mode}`)
            : failed(
                subject,
                `authentication mode ${mode}`,
                `aws eks update-cluster-config --name ${clusterName} --access-config authenticationMode=API_AND_CONFIG_MAP`,
              ),
          known === cluster?.endpoint
            ? ok(subject, 'the functions know its endpoint')
            : failed(
                subject,
                `its endpoint is ${cluster?.endpoint}, the functions call ${known}`,
                'correct cluster.endpoint and cluster.certificateAuthority in cdk.context.json and deploy',
              ),
        ];
      },
    },
    ...functions
      .filter(({ name }) => PERMISSIONS[name].kubernetes.length > 0)
      .map(({ name, roleArn }): Check => ({
        subject: `access entry of ${name}`,
        needs: 'eks:DescribeAccessEntry',
        look: async () => {
          const subject = `access entry of ${name}`;
          const group = kubernetesGroupOf(name);
          try {
            const { accessEntry } = await eks.send(
              new DescribeAccessEntryCommand({ clusterName, principalArn: roleArn }),
            );
            const groups = accessEntry?.kubernetesGroups ?? [];
            if (groups.includes(group)) return [ok(subject, group)];
            return [failed(subject, `has the groups ${groups.join(', ') || 'none'}, not ${group}`, DEPLOY_DRIFT)];
          } catch (error) {
            if (!(error instanceof Error) || error.name !== 'ResourceNotFoundException') throw error;
            return [failed(subject, `${roleArn} has none`, DEPLOY_DRIFT)];
          }
        },
      })),
    {
      subject: 'identity of the forwarder',
      needs: 'eks:ListPodIdentityAssociations',
      whenMissing: OTHER_CLUSTER,
      look: async () => {
        const subject = 'identity of the forwarder';
        const { namespace, name: serviceAccount } = FORWARDER_ACCOUNT;
        const { associations = [] } = await eks.send(
          new ListPodIdentityAssociationsCommand({ clusterName, namespace, serviceAccount }),
        );
        const says = `${associations.length} Pod Identity association of ${namespace}/${serviceAccount}`;
        const remedy = `${DEPLOY_DRIFT}; then restart the forwarder, whose pods get credentials at their start alone. With IRSA there is none`;
        return [associations.length > 0 ? ok(subject, says) : failed(subject, says, remedy)];
      },
    },
  ];
}
