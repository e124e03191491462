/** How to reach the cluster: out of the context, or asked for at deploy time by CloudFormation parameters without a default. */
import { CfnParameter } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
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
    name: ask('ClusterName', 'Name of the EKS cluster'),
    endpoint: ask('ClusterEndpoint', 'URL of its API server: cluster.endpoint of `aws eks describe-cluster`'),
    certificateAuthority: ask(
      'ClusterCertificateAuthority',
      'cluster.certificateAuthority.data of `aws eks describe-cluster`',
    ),
  };
}
