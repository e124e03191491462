/** Expectations in words. */
import { toIsoText } from '../shared/domain/time.ts';
import type { Expectation, TargetRef, Window } from './scenario/scenario.ts';

/** The expectation in one line. */
export function describeExpectation(expectation: Expectation): string {
  switch (expectation.kind) {
    case 'finalInstance':
      return `at the end instance ${expectation.providerID} is ${expectation.state}`;
    case 'finalObject': {
      const { exists, match, absent } = expectation;
      const object = nameOf(expectation.target);
      if (!exists) return `at the end ${object} does not exist`;
      const matching = match === undefined ? [] : [`contains ${JSON.stringify(match)}`];
      const without = absent.length === 0 ? [] : [`has no ${absent.join(', ')}`];
      const claims = [...matching, ...without];
      return `at the end ${object} ${claims.length === 0 ? 'exists' : claims.join(' and ')}`;
    }
    case 'trace': {
      const { pattern, window, times } = expectation;
      const without = pattern.absent.length === 0 ? '' : ` without ${pattern.absent.join(', ')}`;
      return `${describeTimes(times)} ${pattern.kind} ${JSON.stringify(pattern.fields)}${without}${describeWindow(window)}`;
    }
  }
}

function describeTimes({ min, max }: { min: number; max: number }): string {
  if (min === max) return min === 0 ? 'no' : `exactly ${min}`;
  if (max === Infinity) return `at least ${min}`;
  return `${min} to ${max}`;
}

function describeWindow({ from, to }: Window): string {
  if (from !== undefined && to !== undefined) return ` from ${toIsoText(from)} to ${toIsoText(to)}`;
  if (from !== undefined) return ` from ${toIsoText(from)} on`;
  return to === undefined ? '' : ` up to ${toIsoText(to)}`;
}

function nameOf({ resource, namespace, name }: TargetRef): string {
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
