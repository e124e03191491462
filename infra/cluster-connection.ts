/** How to reach the cluster: out of the context, or by CloudFormation parameters without a default, which must be given to the deployment. */
import { CfnParameter } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { CLUSTER_PARAMETERS } from '../shared/contract/env.ts';
import type { CurfewConfig } from './config.ts';

export interface ClusterConnection {
  readonly name: string;
  readonly endpoint: string;
  /** The CA's PEM in base64. */
  readonly certificateAuthority: string;
}

/** Parameters belong to a stack, so this is called once, by the stack that has the functions. */
export function clusterConnection(scope: Construct, config: CurfewConfig): ClusterConnection {
  if (config.cluster !== undefined) return config.cluster;
  const ask = (id: string, description: string) =>
    new CfnParameter(scope, id, { type: 'String', minLength: 1, description }).valueAsString;
  return {
    name: ask(CLUSTER_PARAMETERS.name, 'Name of the EKS cluster'),
    endpoint: ask(CLUSTER_PARAMETERS.endpoint, 'URL of its API server: cluster.endpoint of `aws eks describe-cluster`'),
    certificateAuthority: ask(
      CLUSTER_PARAMETERS.certificateAuthority,
      'cluster.certificateAuthority.data of `aws eks describe-cluster`',
    ),
  };
}
