import { expect, it } from 'vitest';
import { logFields, withLogFields } from '../../../shared/lambda/log-fields.ts';

it('are those of the run that writes, whatever else is at work', async () => {
  const ends = { a: Promise.withResolvers<void>(), b: Promise.withResolvers<void>() };
  const seen: unknown[] = [];
  const runs = (['a', 'b'] as const).map(messageId =>
    withLogFields({ messageId }, async () => {
      await ends[messageId].promise;
      seen.push(logFields());
    }),
  );
  ends.b.resolve();
  await runs[1];
  ends.a.resolve();
  await Promise.all(runs);
  expect(seen).toEqual([{ messageId: 'b' }, { messageId: 'a' }]);
  expect(logFields()).toEqual({});
});
