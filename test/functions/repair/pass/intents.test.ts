/** A failure on the way to making somebody else's object: what a call may answer is the act's to meet, a mistake of ours is not swallowed. */
import { expect, it } from 'vitest';
import type { ActionDeps } from '../../../../functions/repair/actions/action.ts';
import type { PassDecision } from '../../../../functions/repair/pass/decision.ts';
import { withIntents } from '../../../../functions/repair/pass/intents.ts';
import { parseRepairBlock } from '../../../../shared/contract/repair-schema.ts';
import { RetryableError, TerminalError } from '../../../../shared/errors.ts';
import { createManualClock } from '../../../fakes/manual-clock.ts';

const attempt = { action: 'CustomResource', rung: 0, node: { name: 'n1', uid: 'uid-n1' } };
const verdict = { kind: 'repair', attempt, node: { name: 'n1' }, message: '' };
const decision = { verdicts: [verdict], state: { attempts: [attempt] } } as unknown as PassDecision;

function intended(error: Error): Promise<PassDecision> {
  const block = parseRepairBlock({ actions: [{ type: 'CustomResource', template: 't.yaml' }] }, 'spec.repair');
  if (!block.ok) throw new Error(block.message);
  const kubernetes = { list: () => Promise.reject(error) };
  const deps = { kubernetes, clock: createManualClock() } as unknown as ActionDeps;
  return withIntents(deps, decision, { pool: undefined, rules: { settings: block.value } as never, claims: [] });
}

it.each([new RetryableError('503'), new TerminalError('Invalid', '422')])('leaves %s to the act', async error => {
  expect(await intended(error)).toBe(decision);
});

it('passes a mistake on', async () => {
  await expect(intended(new TypeError('x is undefined'))).rejects.toThrow(TypeError);
});
