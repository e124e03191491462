/** Admission policies and their bindings as objects: what is filled in, and what is refused. */
import type { JsonObject, JsonValue } from '../json.ts';
import { arrayAt, isArray, isObject, objectAt, textAt } from '../json.ts';
import type { Transition } from '../resources/resource-rules.ts';
import type { Cause } from '../status-errors.ts';
import { invalidValue, required } from '../status-errors.ts';
import { syntaxErrorOf } from './cel.ts';

/** Defaults as in `pkg/apis/admissionregistration/v1/defaults.go`. */
export function preparePolicy({ next }: Transition): JsonObject {
  const spec = objectAt(next, 'spec');
  const { matchConstraints } = spec;
  return {
    ...next,
    spec: {
      failurePolicy: 'Fail',
      ...spec,
      ...(isObject(matchConstraints) ? { matchConstraints: withDefaults(matchConstraints) } : {}),
    },
  };
}

export function prepareBinding({ next }: Transition): JsonObject {
  const spec = objectAt(next, 'spec');
  const { matchResources } = spec;
  return isObject(matchResources) ? { ...next, spec: { ...spec, matchResources: withDefaults(matchResources) } } : next;
}

function withDefaults(criteria: JsonObject): JsonObject {
  const scoped = (rules: JsonValue | undefined): JsonObject[] =>
    isArray(rules) ? rules.filter(isObject).map(rule => ({ ...rule, scope: rule.scope ?? '*' })) : [];
  const { resourceRules, excludeResourceRules } = criteria;
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    ...criteria,
    ...(resourceRules === undefined ? {} : { resourceRules: scoped(resourceRules) }),
    ...(excludeResourceRules === undefined ? {} : { excludeResourceRules: scoped(excludeResourceRules) }),
  };
}

/** As `pkg/apis/admissionregistration/validation`, for policies that validate and policies that mutate. */
export function complainAboutPolicy({ next }: Transition): readonly Cause[] {
  const spec = objectAt(next, 'spec');
  const causes: Cause[] = [];
  if (!isObject(spec.matchConstraints)) causes.push(required('spec.matchConstraints'));
  else if (arrayAt(spec.matchConstraints, 'resourceRules').length === 0) {
    causes.push(required('spec.matchConstraints.resourceRules'));
  }
  causes.push(...complainAboutNames(spec, 'variables'), ...complainAboutNames(spec, 'matchConditions'));
  return next.kind === 'MutatingAdmissionPolicy'
    ? [...causes, ...complainAboutMutations(spec)]
    : [...causes, ...complainAboutValidations(spec)];
}

function complainAboutNames(spec: JsonObject, key: 'variables' | 'matchConditions'): Cause[] {
  return arrayAt(spec, key).flatMap((item, index) => {
    const path = `spec.${key}[${index}]`;
    if (!isObject(item)) return [];
    const named = (textAt(item, 'name') ?? '') === '' ? [required(`${path}.name`)] : [];
    return [...named, ...complainAboutExpression(`${path}.expression`, item.expression)];
  });
}

function complainAboutValidations(spec: JsonObject): Cause[] {
  const validations = arrayAt(spec, 'validations');
  if (validations.length === 0 && arrayAt(spec, 'auditAnnotations').length === 0) {
    return [required('spec.validations', 'validations or auditAnnotations must be non-empty')];
  }
  return validations.flatMap((item, index) => {
    const path = `spec.validations[${index}]`;
    if (!isObject(item)) return [];
    const made = item.messageExpression === undefined ? [] : [item.messageExpression];
    return [
      ...complainAboutExpression(`${path}.expression`, item.expression),
      ...made.flatMap(text => complainAboutExpression(`${path}.messageExpression`, text)),
    ];
  });
}

const PATCH_FIELDS = { JSONPatch: 'jsonPatch', ApplyConfiguration: 'applyConfiguration' } as const;

function complainAboutMutations(spec: JsonObject): Cause[] {
  const mutations = arrayAt(spec, 'mutations');
  const causes = mutations.length === 0 ? [required('spec.mutations')] : [];
  const { reinvocationPolicy } = spec;
  if (reinvocationPolicy === undefined) causes.push(required('spec.reinvocationPolicy'));
  return [
    ...causes,
    ...mutations.flatMap((item, index) => {
      const path = `spec.mutations[${index}]`;
      if (!isObject(item)) return [];
      const { patchType } = item;
      if (patchType !== 'JSONPatch' && patchType !== 'ApplyConfiguration') {
        return patchType === undefined
          ? [required(`${path}.patchType`)]
          : [notSupported(`${path}.patchType`, patchType)];
      }
      const field = PATCH_FIELDS[patchType];
      const patch = item[field];
      return isObject(patch)
        ? complainAboutExpression(`${path}.${field}.expression`, patch.expression)
        : [required(`${path}.${field}`, `must be specified when patchType is ${patchType}`)];
    }),
  ];
}

function notSupported(field: string, value: JsonValue): Cause {
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: "ApplyConfiguration", "JSONPatch"`;
  return { reason: 'FieldValueNotSupported', field, message };
}

function complainAboutExpression(field: string, expression: JsonValue | undefined): Cause[] {
  if (typeof expression !== 'string' || expression.trim() === '')
    return [required(field, 'expression is not specified')];
  const error = syntaxErrorOf(expression);
  return error === undefined ? [] : invalidValue(field, expression, [`compilation failed: ${error}`]);
}

/** Only bindings of policies that validate have `validationActions`. */
export function complainAboutBinding({ next }: Transition): readonly Cause[] {
  const spec = objectAt(next, 'spec');
  const causes = (textAt(spec, 'policyName') ?? '') === '' ? [required('spec.policyName')] : [];
  if (next.kind !== 'ValidatingAdmissionPolicyBinding') return causes;
  const actions = arrayAt(spec, 'validationActions');
  if (actions.length === 0) causes.push(required('spec.validationActions'));
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
    causes.push({
      reason: 'FieldValueInvalid',
      field: 'spec.validationActions',
      message: `Invalid value: ${JSON.stringify(actions)}: ${why}`,
    });
  }
  return causes;
}
