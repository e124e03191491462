/**
 * I9: words are true. What an Event or an audit line says was done has that write before it: of this run, or of an earlier one that died before
 * it could say so.
 */
import { createActsDone } from './acts-done.ts';
import type { MakeCheck } from './invariant.ts';
import { dig, textOf } from './reading.ts';
import { isKubernetes, targetOf } from './run-journal.ts';
import { claimsOf, type Words } from './words.ts';

export const checkActsSaid: MakeCheck = context => {
  const { violate } = context;
  const acts = createActsDone(context);
  const judge = (by: string, words: Words): void => {
    const untrue = claimsOf(words).find(claim => !acts.isTrue(claim));
    if (untrue === undefined) return;
    violate(
      'I9',
      `${by} says "${words.message}" of ${words.about.kind} ${words.about.name}, and has not done it: ${untrue}`,
    );
  };
  return {
    onCall(call, { by }) {
      acts.onCall(call);
      if (!isKubernetes(call, 'create') || targetOf(call).resource !== 'events') return;
      const event = call.args[1];
      const about = (field: string): string => textOf(dig(event, 'involvedObject', field)) ?? '';
      judge(by, {
        reason: textOf(dig(event, 'reason')) ?? '',
        message: textOf(dig(event, 'message')) ?? '',
        about: { kind: about('kind'), name: about('name'), uid: about('uid') },
      });
    },
    onWrite: (write, by) => acts.onWrite(write, by),
    onAudit({ function: by, kind, name, uid = '', ...words }) {
      judge(by, { ...words, about: { kind, name, uid } });
    },
  };
};
