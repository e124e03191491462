/**
 * The bridge as a Lambda function: any message of its queue, an event of the custom resource or the minute tick, means "look". One at a time
 * (the queue has one message group). A pass that fails gives its messages back to the queue.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { createEksAuthenticator } from '../../../shared/adapters/kubernetes/eks-token.ts';
import { createKubernetesApi } from '../../../shared/adapters/kubernetes/kubernetes-api.ts';
import { createTransport } from '../../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../../shared/adapters/system-clock.ts';
import { ENV, requireEnv } from '../../../shared/contract/env.ts';
import { runPass, type PassDeps } from './pass.ts';
import { connectSlurm, readSettings } from './settings.ts';

let made: PassDeps | undefined;

export async function handler(): Promise<void> {
  made ??= connect();
  await runPass(made);
}

function connect(): PassDeps {
  const { env } = process;
  const { owner, namespace, slurm } = readSettings(env);
  const { credentials } = new SQSClient({}).config;
  const transport = createTransport({
    server: requireEnv(env, ENV.clusterEndpoint),
    clock: systemClock,
    userAgent: 'slurm-bridge',
    authenticator: createEksAuthenticator({
      clusterName: requireEnv(env, ENV.clusterName),
      region: requireEnv(env, 'AWS_REGION'),
      credentials,
      clock: systemClock,
    }),
    tls: { ca: Buffer.from(requireEnv(env, ENV.clusterCertificateAuthority), 'base64') },
  });
  return {
    kubernetes: createKubernetesApi(transport),
    slurm: connectSlurm(slurm),
    clock: systemClock,
    owner,
    namespace,
    log: (message, fields) => process.stdout.write(`${JSON.stringify({ message, ...fields })}\n`),
  };
}
