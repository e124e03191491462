/** `curfew crd-patch nodepool`: prints the patch that lets Karpenter's NodePool definition keep the fields that Curfew reads. */
import { customResourceDefinitions } from '../simulator/custom-resource-definitions.ts';
import { arrayAt, isObject, objectAt } from '../packages/kube-apiserver/src/json.ts';
import type { JsonObject } from '../shared/domain/kubernetes-object.ts';
import type { CommandOutput } from './command-output.ts';

/** Prints a JSON patch (RFC 6902), one operation a line, for `kubectl patch crd nodepools.karpenter.sh --type json`. */
export function crdPatchCommand(output: CommandOutput): number {
  output.out(
    `[\n${nodePoolPatch()
      .map(operation => `  ${JSON.stringify(operation)}`)
      .join(',\n')}\n]\n`,
  );
  return 0;
}

const VERSION = '/spec/versions/0';
const SPEC = `${VERSION}/schema/openAPIV3Schema/properties/spec/properties`;
const DISRUPTION = `${SPEC}/disruption/properties`;

/** The operations; the first refuses a definition whose first version is another one. */
export function nodePoolPatch(): readonly JsonObject[] {
  const add = (path: string, value: JsonObject): JsonObject => ({ op: 'add', path, value });
  return [
    { op: 'test', path: `${VERSION}/name`, value: 'v1' },
    add(`${DISRUPTION}/customFinalizerName`, {
      type: 'string',
      description: "Finalizer of this pool's NodeClaims and Nodes, by which Curfew terminates them.",
      maxLength: 317,
      pattern:
        '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
      'x-kubernetes-validations': [
        {
          rule: "!self.matches('^(kubernetes[.]io|[^/]+[.]kubernetes[.]io|[^/]+[.]k8s[.]io|karpenter[.]sh)/')",
          message:
            'must not be in a domain of Kubernetes or Karpenter (kubernetes.io, *.kubernetes.io, *.k8s.io, karpenter.sh), whose finalizers are theirs',
        },
      ],
    }),
    add(`${DISRUPTION}/terminationGracePeriodSeconds`, {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      description: 'How long after its deletion a node of this pool is terminated by force, in seconds.',
    }),
    add(`${SPEC}/repair`, repairSchema()),
  ];
}

/** The block as NodeLifecyclePolicies have it. */
function repairSchema(): JsonObject {
  const definition = customResourceDefinitions().find(
    ({ metadata }) => metadata.name === 'nodelifecyclepolicies.curfew.dev',
  );
  const spec = isObject(definition?.['spec']) ? definition['spec'] : {};
  const [version] = arrayAt(spec, 'versions').filter(isObject);
  const path = ['schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', 'repair'];
  return path.reduce(objectAt, version ?? {});
}
