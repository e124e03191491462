import type { EventPattern as RulePattern } from 'aws-cdk-lib/aws-events';
import type { EventPattern } from '../../../shared/contract/routes.ts';

/** A pattern of the contract as CDK spells it. */
export function toRulePattern({ source, 'detail-type': detailType, detail }: EventPattern): RulePattern {
  return { ...(source && { source: [...source] }), detailType: [...detailType], ...(detail && { detail }) };
}
