/**
 * The admission policy of terminations that somebody has applied, beside the one that `curfew policies admission` prints for this cluster today. One of
 * before refuses Nodes on Kubernetes 1.37, and every one goes by the NodePools that there were when it was printed.
 */
import { isDeepStrictEqual } from 'node:util';
import { minorVersionOf, serverVersion } from '../../shared/adapters/kubernetes/server-version.ts';
import type { Transport } from '../../shared/adapters/kubernetes/transport.ts';
import { isJsonObject } from '../../shared/domain/json.ts';
import type { KubernetesManifest } from '../../shared/domain/kubernetes-object.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { objectOf } from '../../shared/ports/read-answer.ts';
import {
  TABLE_VARIABLES,
  TERMINATION_POLICY,
  TERMINATION_POLICY_TYPES,
  terminationPolicy,
} from '../policies/termination-policy.ts';
import { poolsAndPolicies, terminationTable } from '../policies/termination-settings.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

const SUBJECT = `MutatingAdmissionPolicy ${TERMINATION_POLICY}`;
const APPLY = 'npx curfew policies admission > admission.yaml; kubectl apply -f admission.yaml';
/** From here on the API server puts no list that stands in a Node into a patch. */
const STRICT_MINOR = 37;

/** Nothing where no such policy is there: it is a choice of the operator. */
export async function lookAtTerminationAdmission(
  kubernetes: Pick<KubernetesApi, 'get' | 'list'>,
  transport: Transport,
): Promise<readonly Finding[]> {
  const read = async (type: (typeof TERMINATION_POLICY_TYPES)['policy']) =>
    objectOf(await kubernetes.get({ type, name: TERMINATION_POLICY }), { ifNotServed: 'empty' });
  const found = await read(TERMINATION_POLICY_TYPES.policy);
  if (found === undefined) return [];
  const table = terminationTable(await poolsAndPolicies(kubernetes));
  if (table.kind === 'invalid')
    return [warning(SUBJECT, `cannot be compared: ${table.messages.join('; ')}`, 'correct what it names')];
  const [printed] = terminationPolicy(table.table);
  if (!isDeepStrictEqual(formOf(found), formOf(printed))) return [ofAnotherForm(await serverVersion(transport))];
  if (!isDeepStrictEqual(found['spec'], printed?.['spec']))
    return [warning(SUBJECT, 'NodePools or policies have changed since it was printed', APPLY)];
  if ((await read(TERMINATION_POLICY_TYPES.binding)) === undefined)
    return [warning(SUBJECT, 'has no binding of its name, so it judges nothing', APPLY)];
  return [ok(SUBJECT, 'is as curfew policies admission prints it')];
}

function ofAnotherForm(version = ''): Finding {
  const isStrict = (minorVersionOf(version) ?? 0) >= STRICT_MINOR;
  const release = isStrict ? version : `1.${STRICT_MINOR}`;
  const says = `is not of this version of Curfew: with one of before, Kubernetes ${release} refuses Nodes of pools under builtin: Keep`;
  return (isStrict ? failed : warning)(SUBJECT, says, APPLY);
}

/** The spec without the tables of pools: this part is the same for all clusters. */
function formOf(policy: KubernetesManifest | undefined): unknown {
  const spec = policy?.['spec'];
  if (!isJsonObject(spec) || !Array.isArray(spec['variables'])) return spec;
  const variables = spec['variables'].map((each: unknown) => {
    const name = isJsonObject(each) ? each['name'] : undefined;
    return typeof name === 'string' && TABLE_VARIABLES.includes(name) ? name : each;
  });
  return { ...spec, variables };
}
