/** Events and Leases: what their writers must say. */
import { numberAt, objectAt, textAt } from '../json.ts';
import { complainAboutQualifiedName } from '../names.ts';
import { namespaceOf } from '../objects.ts';
import type { Cause } from '../status-errors.ts';
import { invalidValue, required } from '../status-errors.ts';
import type { Transition } from './resource-rules.ts';

const LIMITS = { reportingInstance: 128, action: 128, reason: 128, message: 1024 };

/** An event stands in the namespace of its object, or in `default`; one with an `eventTime` says more than one without. */
export function complainAboutEvent({ next }: Transition): Cause[] {
  const namespace = namespaceOf(next);
  const about = textAt(objectAt(next, 'involvedObject'), 'namespace') ?? '';
  const isNew = next.eventTime !== undefined;
  const allowed = about === '' ? ['default', ...(isNew ? ['kube-system'] : [])] : isNew ? [namespace] : [about];
  const causes = allowed.includes(namespace)
    ? []
    : invalidValue('involvedObject.namespace', about, ['does not match event.namespace']);
  if (!isNew) return causes;
  const component = textAt(next, 'reportingComponent') ?? '';
  if (component === '') causes.push(required('reportingComponent'));
  causes.push(...invalidValue('reportingComponent', component, complainAboutQualifiedName(component)));
  for (const field of ['reportingInstance', 'action', 'reason']) {
    if ((textAt(next, field) ?? '') === '') causes.push(required(field));
  }
  for (const [field, limit] of Object.entries(LIMITS)) {
    if ((textAt(next, field) ?? '').length > limit) {
      causes.push(...invalidValue(field, '', [`can have at most ${limit} characters`]));
    }
  }
  return causes;
}

/** As `ValidateLeaseSpec` in `pkg/apis/coordination/validation`. */
export function complainAboutLease({ next }: Transition): Cause[] {
  const spec = objectAt(next, 'spec');
  const seconds = numberAt(spec, 'leaseDurationSeconds');
  const transitions = numberAt(spec, 'leaseTransitions');
  const causes: Cause[] = [];
  const complain = (field: string, value: number, why: string) =>
    causes.push({ reason: 'FieldValueInvalid', field: `spec.${field}`, message: `Invalid value: ${value}: ${why}` });
  if (seconds !== undefined && seconds <= 0) complain('leaseDurationSeconds', seconds, 'must be greater than 0');
  if (transitions !== undefined && transitions < 0) {
    complain('leaseTransitions', transitions, 'must be greater than or equal to 0');
  }
  return causes;
}
