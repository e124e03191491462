/** What is said of a node that nobody confirms to be unhealthy, or that others may be at work on. */
import { expect, it } from 'vitest';
import { confirmationBlocker, otherWorkBlocker } from '../../../../functions/repair/rule/confirmation.ts';
import type { OwnDueVerdict } from '../../../../functions/repair/node/rule/verdict.ts';
import { addDuration, minutes } from '../../../../shared/domain/time.ts';
import { T } from '../../../builders/repair.ts';

const due = (confirm: string | undefined) =>
  ({ entryPolicy: { confirm }, dueCondition: { field: 'spec.repair.policies[0]' } }) as unknown as OwnDueVerdict;
const until = addDuration(T, minutes(1));

it.each([
  ['ok', 'ok'],
  [undefined, 'nothing'],
])('a repair waits while EC2 says %s', (answer, says) => {
  expect(confirmationBlocker(due('InstanceStatus'), answer, T)).toEqual({
    kind: 'entry',
    reason: 'NotConfirmed',
    message: `EC2 says ${says} of InstanceStatus, and confirm waits for impaired`,
    setting: { field: 'spec.repair.policies[0].confirm', numbers: { check: 'InstanceStatus', says } },
    until,
  });
});

it('a repair goes on where EC2 confirms it, or need not', () => {
  expect(confirmationBlocker(due('InstanceStatus'), 'impaired', T)).toBeUndefined();
  expect(confirmationBlocker(due(undefined), 'ok', T)).toBeUndefined();
});

it('a repair waits while nobody can say who else is at work', () => {
  expect(otherWorkBlocker(undefined, T)).toBeUndefined();
  expect(otherWorkBlocker('jobs cannot be read', T)).toEqual({
    kind: 'others',
    reason: 'BeingDisrupted',
    message: 'who else is at work on it is not known: jobs cannot be read',
    until,
  });
});
