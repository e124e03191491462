/** `kubectl get` of admission policies and their bindings. */
import type { KubernetesObject } from '../../kubernetes-object.ts';
import { listAt, textAt } from '../json-fields.ts';
import { ageColumn, column, nameColumn, type Column } from './columns.ts';

function paramKindOf(policy: KubernetesObject): string {
  const kind = textAt(policy.spec, 'paramKind', 'kind');
  return kind === '' ? '<unset>' : `${textAt(policy.spec, 'paramKind', 'apiVersion')}/${kind}`;
}

function paramRefOf(binding: KubernetesObject): string {
  const name = textAt(binding.spec, 'paramRef', 'name');
  const namespace = textAt(binding.spec, 'paramRef', 'namespace');
  if (name === '') return '<unset>';
  return `${namespace || '*'}/${name}`;
}

const paramKindColumn = column('ParamKind', 'Kind of the parameters of the policy.', paramKindOf);

export const validatingPolicyColumns: readonly Column[] = [
  nameColumn,
  column('Validations', 'Number of validations.', policy => listAt(policy.spec, 'validations').length, 'integer'),
  paramKindColumn,
  ageColumn,
];

export const mutatingPolicyColumns: readonly Column[] = [
  nameColumn,
  column('Mutations', 'Number of mutations.', policy => listAt(policy.spec, 'mutations').length, 'integer'),
  paramKindColumn,
  ageColumn,
];

/** Bindings of both kinds of policies. */
export const policyBindingColumns: readonly Column[] = [
  nameColumn,
  column('PolicyName', 'Policy that is bound.', binding => textAt(binding.spec, 'policyName')),
  column('ParamRef', 'Parameters that it is bound with.', paramRefOf),
  ageColumn,
];
