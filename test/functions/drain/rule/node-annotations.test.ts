/** What people may have made of the annotations of a drain. */
import { describe, expect, it } from 'vitest';
import { readAnswer, readUnderWay } from '../../../../functions/drain/rule/node-annotations.ts';

const UNREADABLE = [undefined, '', 'null', '[]', '5', '"done"', '{', '{"id":5}', '{"id":"a"}'];

describe('the answer on a Node', () => {
  const said = { id: 'a', status: 'Failed', message: 'out of time' };

  it('says how the drain ended, and which pods are left', () => {
    expect(readAnswer(JSON.stringify({ ...said, left: ['p/a'] }))).toEqual({ ...said, left: ['p/a'] });
    expect(readAnswer(JSON.stringify(said))).toEqual({ ...said, left: [] });
  });

  it.each([...UNREADABLE, JSON.stringify({ ...said, left: [{ name: 'a' }] }), JSON.stringify({ ...said, left: 'a' })])(
    'is none by %j',
    text => {
      expect(readAnswer(text)).toBeUndefined();
    },
  );
});

describe('the drain under way on a Node', () => {
  it.each([...UNREADABLE, '{"id":"a","since":"soon"}'])('is none by %j', text => {
    expect(readUnderWay(text)).toBeUndefined();
  });
});
