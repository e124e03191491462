import type { Route } from '../shared/contract/routes.ts';

/**
 * The name of a rule on the account's default bus, such as `Curfew-InstancesToFinalizer`. Not generated: the dead-letter queue, which is in the
 * other stack, has to let exactly this rule in.
 */
export function nameOfDefaultBusRule(deployment: string, { name }: Pick<Route, 'name'>): string {
  return `${deployment}-${name}`;
}
