/** Environment variables. Infra gives each function those that it reads. */
export const ENV = {
  clusterName: 'CLUSTER_NAME',
  clusterEndpoint: 'CLUSTER_ENDPOINT',
  clusterCertificateAuthority: 'CLUSTER_CA',
  tableName: 'TABLE_NAME',
  /** URL of the function's own inbox. */
  inboxUrl: 'INBOX_URL',
  /** JSON object: function name → queue URL. */
  inboxUrls: 'INBOX_URLS',
  deadLetterQueueUrl: 'DLQ_URL',
  eventBusName: 'EVENT_BUS_NAME',
  /** `true`: the SDK calls FIPS endpoints. */
  fipsEndpoints: 'AWS_USE_FIPS_ENDPOINT',
} as const;

/** CloudFormation parameters that say which cluster, when the CDK context does not; the local stack gives them as a deployment would. */
export const CLUSTER_PARAMETERS = {
  name: 'ClusterName',
  endpoint: 'ClusterEndpoint',
  certificateAuthority: 'ClusterCertificateAuthority',
} as const;

/** The value of a variable that must be set. Throws with the variable's name. */
export function requireEnv(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = env[name];
  if (value === undefined || value === '') throw new Error(`environment variable ${name} must be set`);
  return value;
}
