/** `AuditLog` as one JSON line per decision on the function's log; queries select by `audit = 1`. */
import type { Logger } from '@aws-lambda-powertools/logger';
import type { AuditLog } from '../../ports/audit-log.ts';
import { boundedAuditLog } from './bounded-audit.ts';

/** `logger` must let INFO through whatever the level of the other lines. It adds the request id of the invocation. */
export function createAuditLog(logger: Pick<Logger, 'info'>): AuditLog {
  return boundedAuditLog({
    write({ message, ...fields }) {
      logger.info(message, { audit: true, ...fields });
    },
  });
}
