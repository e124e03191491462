/** `curfew republish`: asks the forwarder to publish every object again, by an annotation on the ConfigMap that it watches. */
import { ANNOTATIONS, CONFIG_MAP } from '../shared/contract/names.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import { toIsoText } from '../shared/domain/time.ts';
import type { CommandOutput } from './command-output.ts';
import type { Cluster } from './cluster.ts';
import { UsageError } from './usage-error.ts';
import { reportFailure } from './failure.ts';
import { onKubeconfig } from './on-kubeconfig.ts';

export interface RepublishOptions {
  /** Default: `$KUBECONFIG`, else `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Exit code 0: asked. 2: the cluster cannot be used, or has no such ConfigMap, with one line that says why. */
export async function republishCommand(options: RepublishOptions, output: CommandOutput): Promise<number> {
  try {
    await onKubeconfig(options, requestRepublish);
    output.out('The forwarder publishes every object again, 20 a second unless it is configured otherwise.\n');
    return 0;
  } catch (error) {
    return reportFailure(error, output);
  }
}

async function requestRepublish({ kubernetes, now }: Cluster): Promise<void> {
  const { namespace, name } = CONFIG_MAP;
  const body = { metadata: { annotations: { [ANNOTATIONS.republish]: toIsoText(now) } } };
  const outcome = await kubernetes.patch({ type: RESOURCES.ConfigMap, namespace, name }, { type: 'merge', body });
  switch (outcome.kind) {
    case 'ok':
      return;
    case 'notFound':
      throw new UsageError(`there is no ConfigMap ${namespace}/${name}: apply deploy/ first`);
    case 'conflict':
      throw new UsageError(`ConfigMap ${namespace}/${name}: ${outcome.message}`);
  }
}
