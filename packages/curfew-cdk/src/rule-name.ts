import { Fn } from 'aws-cdk-lib';
import type { Rule } from 'aws-cdk-lib/aws-events';

/**
 * The name by which metrics know a rule of our own bus. Not `ruleName`: CloudFormation's `Ref` of such a rule is `BUS|RULE`, and no metric has
 * that dimension. The ARN is `…:rule/BUS/RULE`.
 */
export function metricNameOfRule(rule: Pick<Rule, 'ruleArn'>): string {
  return Fn.select(2, Fn.split('/', rule.ruleArn));
}
