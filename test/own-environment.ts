/** Tests see nothing of what the user who runs them has set up for AWS or Kubernetes: a profile, FIPS endpoints, a cluster. */
import { devNull } from 'node:os';

/** Workers inherit what is left. */
export default function setup(): void {
  removeSettings(process.env);
}

/** What the SDK and kubectl read, and the files that they read without being told. */
export function removeSettings(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(env)) if (/^(AWS|POWERTOOLS|CDK)_|^KUBECONFIG$/.test(name)) delete env[name];
  env['AWS_CONFIG_FILE'] = devNull;
  env['AWS_SHARED_CREDENTIALS_FILE'] = devNull;
}
