/** What the clusters of several benches have in common. Pure. */
import { CONFIG_MAP } from '../shared/contract/names.ts';
import type { JsonObject, KubernetesManifest } from '../shared/domain/kubernetes-object.ts';

/** The least that Karpenter's definitions of NodePool and NodeClaim ask for. */
export const CLAIM_SPEC: JsonObject = {
  nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
  requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] }],
};

/** Curfew's configuration. @param toml default: the gate of repair is open */
export function configMap(toml = '[featureGates]\nnodeRepair = true\n'): KubernetesManifest {
  const { namespace, name, key } = CONFIG_MAP;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { [key]: toml } };
}
