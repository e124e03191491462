import { expect, it } from 'vitest';
import { hookAnswerOf } from '../../../shared/contract/hook-answer.ts';

it.each([
  [{ result: 'fail', message: 'no such luck' }, 'no such luck'],
  [{ result: 'fail' }, 'the worker gives no message'],
  [
    { result: 'done' },
    'the worker answered what is no answer: answer.result: Invalid option: expected one of "succeed"|"notFound"|"fail"|"pending"',
  ],
  [{ result: 'fail', message: 'x'.repeat(500_000) }, `${'x'.repeat(1023)}…`],
  [{ result: 'fail', message: `${'x'.repeat(1022)}😀 and more` }, `${'x'.repeat(1022)}…`],
  ['fine', 'the worker answered what is no answer: answer: Invalid input: expected object, received string'],
])('%j has failed, and says so on one line', (value, message) => {
  expect(hookAnswerOf(value, 'the worker')).toEqual({ kind: 'failed', message });
});
