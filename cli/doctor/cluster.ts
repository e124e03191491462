/**
 * Checks which parts of Curfew the cluster has, what each part may do in it, and what around it switches something off.
 */
import { missingAccess } from '../../shared/adapters/kubernetes/access-probe.ts';
import { minorVersionOf, serverVersion, warningOn } from '../../shared/adapters/kubernetes/server-version.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { CONFIG_MAP, FUNCTION_NAMES } from '../../shared/contract/names.ts';
import {
  FORWARDER_ACCOUNT,
  FORWARDER_LEASE,
  kubernetesGroupOf,
  PERMISSIONS,
  type Component,
} from '../../shared/contract/permissions.ts';
import { RESOURCES } from '../../shared/contract/resources.ts';
import type { KubernetesObject, ResourceType } from '../../shared/domain/kubernetes-object.ts';
import { durationBetween, minutes, parseTimestamp } from '../../shared/domain/time.ts';
import type { Cluster } from '../cluster.ts';
import { failed, note, ok, warning, type Check, type Finding } from './finding.ts';
import { lookAtTerminationAdmission } from './termination-admission.ts';

const DEPLOYMENTS: ResourceType = { group: 'apps', version: 'v1', resource: 'deployments' };
/** The command that shows, on one machine, that changes arrive and functions run. */
export const FOLLOW = 'npx curfew audit --follow shows what the functions do';
const APPLY = 'kubectl apply -k deploy/, or helm upgrade';
/** A lease is renewed every few seconds. */
const LEASE_IS_OLD_AFTER = minutes(1);
/** MutatingAdmissionPolicy in `v1` came with it: `builtin: Replace` needs it. */
const MUTATING_POLICIES_MINOR = 36;
const PARTS: readonly Component[] = [
  ...FUNCTION_NAMES.filter(name => PERMISSIONS[name].kubernetes.length > 0),
  'forwarder',
];

function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null) return undefined;
    inner = Reflect.get(inner, key);
  }
  return inner;
}

const textAt = (value: unknown, ...path: readonly (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
};

/** @param isOfThisMachine it is the cluster of `npm start -- --serve` */
export function checksOfCluster(
  { kubernetes, now }: Cluster,
  transport: Transport,
  isOfThisMachine: boolean,
): readonly Check[] {
  const read = async (type: ResourceType, name: string): Promise<KubernetesObject | undefined> => {
    const answer = await kubernetes.get({ type, namespace: CONFIG_MAP.namespace, name });
    return answer.kind === 'there' ? answer.object : undefined;
  };
  return [
    { subject: 'Kubernetes', needs: 'access to the API server', look: () => lookAtVersion(transport) },
    {
      subject: 'definitions',
      needs: 'list on nodelifecyclepolicies and finalizerrules of curfew.dev',
      look: async () => {
        const found: Finding[] = [];
        for (const kind of ['NodeLifecyclePolicy', 'FinalizerRule'] as const) {
          const answer = await kubernetes.list(RESOURCES[kind]);
          if (answer.kind !== 'there') {
            found.push(failed(`definition of ${kind}`, 'is not served', APPLY));
            continue;
          }
          const count = `${answer.objects.length} ${answer.objects.length === 1 ? 'object' : 'objects'}`;
          found.push(ok(`definition of ${kind}`, `is served, ${count}`), ...answer.objects.flatMap(saidOn));
        }
        return found;
      },
    },
    {
      subject: 'admission of terminations',
      needs: 'get on mutatingadmissionpolicies and their bindings, and list on nodepools and nodelifecyclepolicies',
      look: () => lookAtTerminationAdmission(kubernetes, transport),
    },
    {
      subject: 'configuration',
      needs: `get on configmaps in ${CONFIG_MAP.namespace}`,
      look: async () => {
        const subject = `ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}`;
        const found = await read(RESOURCES.ConfigMap, CONFIG_MAP.name);
        return [found === undefined ? failed(subject, 'is not there', APPLY) : ok(subject, 'is there')];
      },
    },
    {
      subject: 'forwarder',
      needs: `get on deployments and leases in ${FORWARDER_ACCOUNT.namespace}`,
      look: async () => {
        const deployment = await read(DEPLOYMENTS, FORWARDER_ACCOUNT.name);
        if (deployment === undefined && isOfThisMachine)
          return [note('forwarder', 'is a process of the local stack, no Deployment', FOLLOW)];
        if (deployment === undefined) return [failed('forwarder', 'has no Deployment', APPLY)];
        const ready = Number(at(deployment, 'status', 'readyReplicas') ?? 0);
        const image = textAt(deployment, 'spec', 'template', 'spec', 'containers', 0, 'image');
        const logs = 'kubectl -n curfew describe pods; kubectl -n curfew logs deploy/curfew-forwarder';
        const says = `${ready} ready, ${image}`;
        const lease = await read(RESOURCES.Lease, FORWARDER_LEASE.name);
        const renewed = parseTimestamp(textAt(lease, 'spec', 'renewTime'));
        const isHeld = renewed !== undefined && durationBetween(renewed, now) <= LEASE_IS_OLD_AFTER;
        return [
          ready > 0 ? ok('forwarder', says) : failed('forwarder', says, logs),
          isHeld
            ? ok('lease of the forwarder', `held by ${textAt(lease, 'spec', 'holderIdentity')}`)
            : failed('lease of the forwarder', 'nobody holds it: no forwarder works', logs),
        ];
      },
    },
    ...PARTS.map((part): Check => ({
      subject: `rights of ${part}`,
      needs: 'create on subjectaccessreviews of authorization.k8s.io',
      look: async () => {
        const missing = await missingAccess(transport, PERMISSIONS[part].kubernetes, subjectOf(part));
        const subject = `rights of ${part}`;
        if (missing.length === 0) return [ok(subject, 'all there')];
        return [failed(subject, `may not ${missing.join(', ')}`, `kubectl apply -f deploy/rbac, or helm upgrade`)];
      },
    })),
    {
      subject: 'Karpenter',
      needs: 'list on deployments',
      look: async () => {
        const answer = await kubernetes.list(DEPLOYMENTS, { labelSelector: 'app.kubernetes.io/name=karpenter' });
        return answer.kind === 'there' ? answer.objects.flatMap(lookAtKarpenter) : [];
      },
    },
  ];
}

const subjectOf = (part: Component) =>
  part === 'forwarder'
    ? {
        user: `system:serviceaccount:${FORWARDER_ACCOUNT.namespace}:${FORWARDER_ACCOUNT.name}`,
        groups: [
          'system:serviceaccounts',
          `system:serviceaccounts:${FORWARDER_ACCOUNT.namespace}`,
          'system:authenticated',
        ],
      }
    : { user: `curfew-${part}`, groups: [kubernetesGroupOf(part), 'system:authenticated'] };

async function lookAtVersion(transport: Transport): Promise<readonly Finding[]> {
  const version = await serverVersion(transport);
  if (version === undefined)
    return [warning('Kubernetes', 'does not say its version', 'look whether it is 1.30 or newer')];
  const old = warningOn(version);
  if (old !== undefined) return [failed('Kubernetes', old, 'upgrade the cluster')];
  if ((minorVersionOf(version) ?? 0) >= MUTATING_POLICIES_MINOR) return [ok('Kubernetes', version)];
  const says = `${version} serves no MutatingAdmissionPolicy: builtin: Replace is as Keep, and finalizers come a second late`;
  return [warning('Kubernetes', says, 'see docs/deploying.md, "Releases of Kubernetes"')];
}

/** Findings from the conditions that Curfew has written on a policy or rule which is not as its author expects. */
function saidOn(object: KubernetesObject): readonly Finding[] {
  const conditions = at(object, 'status', 'conditions');
  if (!Array.isArray(conditions)) return [];
  const remedy = `kubectl describe ${object.kind.toLowerCase()} ${object.metadata.name}`;
  return conditions.flatMap(condition => {
    const [type, status] = [at(condition, 'type'), at(condition, 'status')];
    const isBad = (type === 'Warning' && status === 'True') || (type === 'Ready' && status === 'False');
    if (!isBad) return [];
    const says = `${textAt(condition, 'reason')}: ${textAt(condition, 'message')}`;
    return [warning(`${object.kind} ${object.metadata.name}`, says, remedy)];
  });
}

function lookAtKarpenter(deployment: KubernetesObject): readonly Finding[] {
  const { namespace = '', name } = deployment.metadata;
  const subject = `Karpenter in ${namespace}`;
  const container = at(deployment, 'spec', 'template', 'spec', 'containers', 0);
  const image = textAt(container, 'image');
  const env = at(container, 'env');
  const gates = Array.isArray(env) ? env.find(each => at(each, 'name') === 'FEATURE_GATES') : undefined;
  if (!/\bNodeRepair=true\b/.test(textAt(gates, 'value'))) return [ok(subject, image)];
  return [
    failed(
      subject,
      `${image} repairs nodes by itself (NodeRepair=true), beside Curfew and by other rules`,
      `take NodeRepair=true out of FEATURE_GATES of the Deployment ${namespace}/${name}, or let Curfew repair nothing`,
    ),
  ];
}
