import { Fn } from 'aws-cdk-lib';
import type { Rule } from 'aws-cdk-lib/aws-events';
import type { Route } from '../shared/contract/routes.ts';

/**
 * The name of a rule on the account's default bus, such as `Curfew-InstancesToFinalizer`. Not generated: the dead-letter queue, which is in the
 * other stack, has to let exactly this rule in.
 */
export function nameOfDefaultBusRule(deployment: string, { name }: Pick<Route, 'name'>): string {
  return `${deployment}-${name}`;
}

/**
 * The name by which metrics know a rule of our own bus. Not `ruleName`: CloudFormation's `Ref` of such a rule is `BUS|RULE`, and no metric has
 * that dimension. The ARN is `…:rule/BUS/RULE`.
 */
export function metricNameOfRule(rule: Pick<Rule, 'ruleArn'>): string {
  return Fn.select(2, Fn.split('/', rule.ruleArn));
}
