/** News that begins nothing, whatever the Node: of another cluster, or without a quarantine. Said in the audit, and over. */
import { loadConfig } from '../../shared/cluster/configuration.ts';
import type { About, Reporter } from '../../shared/lifecycle/reporter.ts';
import type { DrainDeps } from './observe.ts';
import type { NodeMessage } from './requests.ts';

interface Parts {
  readonly deps: DrainDeps;
  readonly reporter: Reporter;
}

/**
 * Whether the message is over with that. Nothing is put on the bus: an event that is not quarantined may be by its next delivery, and one of
 * another cluster is the business of the Curfew there.
 */
export async function beginsNothing({ deps, reporter }: Parts, message: NodeMessage): Promise<boolean> {
  const { id, incoming, nodeName, nodeUid } = message;
  const about: About = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: nodeName, ...(nodeUid !== undefined && { uid: nodeUid }) },
  };
  const other = await otherCluster(deps, message.clusters);
  if (other !== undefined) {
    await reporter.report({
      about,
      decision: 'answer',
      reason: 'OtherCluster',
      message: `the event is from cluster ${JSON.stringify(other)}, and this one is ${deps.cluster}; clusterNames lists further names`,
      details: { id, cluster: other },
      metric: { name: 'OtherCluster' },
    });
    return true;
  }
  if (incoming.kind !== 'notQuarantined') return false;
  await reporter.report({
    about,
    decision: 'answer',
    reason: 'NotQuarantined',
    message: `nothing is drained: ${incoming.message}`,
    details: { id, nodeQuarantined: incoming.status ?? null },
  });
  return true;
}

/** A name that is not this cluster's. The configuration is read only where there is one to compare. */
async function otherCluster(deps: DrainDeps, clusters: readonly string[]): Promise<string | undefined> {
  const others = clusters.filter(name => name !== deps.cluster);
  if (others.length === 0) return undefined;
  const { clusterNames } = (await loadConfig('drain', deps)).healthEvents;
  return others.find(name => !clusterNames.includes(name));
}
