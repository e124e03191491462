/** Refuses a file that a command cannot use: lists every finding, in the words and the form of `curfew validate`. */
import { createColors } from 'picocolors';
import { toFinding, type Finding } from '../../simulator/scenario/finding.ts';
import type { ScenarioFault } from '../../simulator/scenario/scenario.ts';
import { wantsColors } from '../../simulator/terminal-colors.ts';
import { UsageError } from '../usage-error.ts';
import { renderFindings } from './excerpt.ts';

/** More mistakes than these wait until the first ones are corrected. */
const SHOWN = 10;

/** @param texts what was read, by file */
export function refusal(findings: readonly Finding[], texts?: ReadonlyMap<string, string>): UsageError {
  const colors = createColors(wantsColors(process.stderr));
  const lines = [...renderFindings(findings.slice(0, SHOWN), { colors, ...(texts && { texts }) })];
  if (findings.length > SHOWN) lines.push(`… and ${findings.length - SHOWN} more`);
  return new UsageError(lines.join('\n'));
}

export const scenarioRefusal = (faults: readonly ScenarioFault[], texts?: ReadonlyMap<string, string>): UsageError =>
  refusal(
    faults.map(fault => toFinding(fault)),
    texts,
  );
