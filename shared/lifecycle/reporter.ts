/**
 * Reports a decision: audit line, metric and Kubernetes Event out of one value. An effect is reported once it has happened. A refusal or a
 * pause is reported before it is recorded: a run that dies or loses its race in between reports it again.
 */
import type { FunctionName } from '../contract/names.ts';
import type { JsonObject } from '../domain/kubernetes-object.ts';
import type { ObjectEvent } from '../ports/event-recorder.ts';
import type { FunctionDeps } from '../ports/function-deps.ts';

/** The object that a report is about, as Events name it. */
export type About = ObjectEvent['about'];

export interface Report {
  readonly about: About;
  /** The decision's kind, e.g. `tolerate`. */
  readonly decision: string;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
  /** The numbers it rests on. */
  readonly details?: JsonObject;
  readonly metric?: { readonly name: string; readonly dimensions?: Readonly<Record<string, string>> };
  /**
   * True if this was reported before. Only the Event is recorded again, because the API server forgets Events after an
   * hour.
   */
  readonly isRepeated?: boolean | undefined;
  /** Recorded on `about`, with `reason` and `message` of the report unless it has its own. */
  readonly event?: { readonly type: 'Normal' | 'Warning'; readonly reason?: string; readonly message?: string };
}

export interface Reporter {
  report(report: Report): Promise<void>;
}

type Deps = Pick<FunctionDeps, 'audit' | 'metrics' | 'events'>;

/** @param owner named in every audit line */
export function createReporter(owner: FunctionName, deps: Deps): Reporter {
  return {
    async report({ about, decision, reason, message, details, metric, isRepeated = false, event }) {
      const { name, namespace, uid } = about.metadata;
      if (!isRepeated) {
        deps.audit.write({
          function: owner,
          decision,
          reason,
          message,
          kind: about.kind,
          ...(namespace !== undefined && { namespace }),
          name,
          ...(uid !== undefined && { uid }),
          ...(details !== undefined && { details }),
        });
        if (metric !== undefined) deps.metrics.count(metric.name, 1, metric.dimensions);
      }
      if (event !== undefined) await deps.events.record({ reason, message, ...event, about });
    },
  };
}

/** A state that lasts. The record remembers its `text`; `report` reports it for the first time, or once more. */
export type LastingReport = { readonly text: string; readonly report: (isRepeated: boolean) => Promise<void> };

/**
 * Reports each that was not reported before.
 *
 * @param earlierTexts the texts that the last call returned, a line each
 * @param how `isRepeatDue`: also reports again those that were reported before
 * @returns the texts to remember for the next call
 */
export async function reportLasting(
  all: readonly LastingReport[],
  earlierTexts = '',
  { isRepeatDue = false }: { readonly isRepeatDue?: boolean } = {},
): Promise<string> {
  const earlierLines = earlierTexts.split('\n');
  const lines: string[] = [];
  for (const { text, report } of all) {
    const line = text.replaceAll('\n', ' ');
    lines.push(line);
    const isRepeated = earlierLines.includes(line);
    if (!isRepeated || isRepeatDue) await report(isRepeated);
  }
  return lines.join('\n');
}
