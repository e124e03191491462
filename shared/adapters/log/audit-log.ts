/**
 * `AuditLog` as one JSON line per decision on the function's log; queries select by `ispresent(audit)`. The fields are those of the logger's lines,
 * which cost five times as much to make. Lines that are written in one go leave in one write.
 */
import { VERSION } from '../../contract/version.ts';
import { AUDIT_VERSION, type AuditLog } from '../../ports/audit-log.ts';
import { boundedAuditLog } from './bounded-audit.ts';

export interface AuditLogOptions {
  /** `service` of the line. */
  readonly serviceName: string;
  /** More fields: the invocation and the message at work. */
  readonly fields: () => Readonly<Record<string, string>>;
  /** Takes whole lines. */
  readonly print: (lines: string) => void;
  readonly now: () => number;
}

/** Lines go out before anything else that waits is done, so none is lost when the process is frozen or ends by itself. */
export function createAuditLog({ serviceName, fields, print, now }: AuditLogOptions): AuditLog {
  let lines = '';
  const flush = (): void => {
    const text = lines;
    lines = '';
    print(text);
  };
  return boundedAuditLog({
    write({ message, ...record }) {
      const timestamp = new Date(now()).toISOString();
      const line = {
        level: 'INFO',
        message,
        timestamp,
        service: serviceName,
        version: VERSION,
        ...fields(),
        audit: true,
        auditVersion: AUDIT_VERSION,
        ...record,
      };
      if (lines === '') queueMicrotask(flush);
      lines += `${JSON.stringify(line)}\n`;
    },
  });
}
