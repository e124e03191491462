/** Queries of CloudWatch Logs Insights that somebody who is on call finds by name: about audit lines, and about what is tried again. */
import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { REFUSALS } from './outcome-metrics.ts';
import { toConstructId } from './construct-id.ts';

const STORY = 'fields @timestamp, function, decision, reason, kind, namespace, name, message';
const NEWEST = 'sort @timestamp desc';

/** The commands of each query, by its name; the console lists them behind the deployment's. */
export const SAVED_QUERIES: Readonly<Record<string, readonly string[]>> = {
  'story of an object': ['filter ispresent(audit) and name = "NODE"', 'sort @timestamp asc', STORY],
  'what was repaired': [
    'filter ispresent(audit) and function = "repair" and decision in ["repair", "wouldRepair"]',
    NEWEST,
    `${STORY}, details.decidedBy.name`,
  ],
  'what holds repairs': [
    'filter ispresent(audit) and function = "repair" and decision in ["blocked", "vetoed"]',
    'stats count(*) by reason, details.nodePool',
  ],
  'drains that ended': [
    'filter ispresent(audit) and function = "drain" and decision in ["end"]',
    NEWEST,
    `${STORY}, details.status`,
  ],
  'what was forced': [
    'filter ispresent(audit) and decision in ["force", "forceDelete", "delete", "terminateInstance"]',
    NEWEST,
    STORY,
  ],
  'what was refused': [
    `filter ispresent(audit) and (decision in ["refuse", "refused"] or reason in ${JSON.stringify(REFUSALS)})`,
    NEWEST,
    STORY,
  ],
  'what is tried again': [
    'filter message like /will be redelivered/',
    NEWEST,
    'fields @timestamp, service, reason, error.name, error.message',
  ],
};

/**
 * Saves the queries.
 *
 * @param deployment its name, before that of each query
 */
export function saveQueries(scope: Construct, logGroups: readonly ILogGroup[], deployment: string): void {
  for (const [name, commands] of Object.entries(SAVED_QUERIES)) {
    new CfnQueryDefinition(scope, `Query${toConstructId(name.replaceAll(' ', '-'))}`, {
      name: `${deployment}/${name}`,
      queryString: commands.join('\n| '),
      logGroupNames: logGroups.map(({ logGroupName }) => logGroupName),
    });
  }
}
