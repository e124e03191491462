/** I12 for drains: an answer whose request still stands on the Node, and an end that its recovery has not met. */
import { readJson } from '../../shared/domain/json.ts';
import { annotationOf, dig, listOf, textOf } from './reading.ts';
import { followShown } from './shown.ts';
import type { Fact, MakeMemory } from './stored-fact.ts';

const PREFIX = 'drain/node/';
const REQUEST = 'curfew.dev/drain-requested';
const CORDON = 'curfew.dev/cordoned-by-drain';
const QUARANTINE = 'quarantineHealthEvent';

/** What a run reads of a Node may be this old when it stores its record; ms. */
const SLACK = 60_000;
/** For so long an inbox keeps a message; ms. */
const MESSAGES_LAST = 14 * 24 * 3_600_000;
/** As many answers have room in any case. */
const FEW = 500;

const isIn = (key: string): boolean => key.startsWith(PREFIX);

/**
 * A request that was answered stays answered alike while the Node names it: by the annotation that asks, by our cordon, or in its quarantine.
 * Of the others so many are remembered for as long as a message may come once more.
 */
export const answersOfDrains: MakeMemory = context => {
  const { mirror, now } = context;
  const shownSince = followShown(context, node => {
    const [asked, cordon] = [annotationOf(node, REQUEST)?.trim(), annotationOf(node, CORDON)];
    return [
      ...(asked === undefined || asked === '' ? [] : [`asked ${asked}`]),
      ...(cordon === undefined ? [] : [`cordon ${cordon}`]),
      ...idsOf(annotationOf(node, QUARANTINE)).map(id => `quarantine ${id}`),
    ];
  });
  const isShown = (uid: string, text: string): boolean => shownSince(uid, text) < now() - SLACK;
  return {
    isIn,
    factsIn({ id: recordId, state }) {
      const uid = recordId.slice('node/'.length);
      const begun = new Set(
        [...listOf(dig(state, 'requests')), ...listOf(dig(state, 'active', 'requests'))].map(each => dig(each, 'id')),
      );
      const answers = [
        ...listOf(dig(state, 'finished')).map(each => [dig(each, 'id'), dig(each, 'status'), dig(each, 'endTime')]),
        ...listOf(dig(state, 'answered')).map(each => listOf(each)),
      ];
      return new Map(
        answers.flatMap(([id, status, time = now()]): [string, Fact][] => {
          if (typeof id !== 'string' || begun.has(id)) return [];
          const referrer = (): string | undefined => {
            if (isShown(uid, `asked ${id}`)) return 'the Node still asks for it';
            if (isShown(uid, `cordon ${id}`)) return 'the Node is still cordoned for it';
            if (status === 'Succeeded' && isShown(uid, `quarantine ${id}`))
              return 'the Node is still quarantined for it';
            const isNews =
              mirror.all('nodes').has(uid) && answers.length <= FEW && now() < Number(time) + MESSAGES_LAST;
            return isNews && status !== 'AlreadyDrained' ? 'its message may come once more' : undefined;
          };
          return [[`${id} ${String(status)}`, { words: `the answer ${String(status)} to ${id}`, referrer }]];
        }),
      );
    },
  };
};

/** Ids of the events that keep a Node in quarantine; none where the text cannot be read. */
const idsOf = (text: string | undefined): readonly string[] =>
  listOf(readJson(text)).flatMap(event => textOf(dig(event, 'id')) ?? []);

/**
 * An end whose fault is not over is kept while our cordon stands: its recovery is to open the node. Several ends of one check may become
 * one, which is as long not over as each of them.
 */
export const endsOfDrains: MakeMemory = context => {
  const shownSince = followShown(context, node =>
    annotationOf(node, CORDON) !== undefined && dig(node, 'spec', 'unschedulable') === true ? ['cordon'] : [],
  );
  return {
    isIn,
    factsIn({ id: recordId, state }) {
      const uid = recordId.slice('node/'.length);
      return new Map(
        listOf(dig(state, 'finished')).flatMap((end): [string, Fact][] => {
          const check = checkOf(end);
          if (dig(end, 'recovered') !== false || !['Succeeded', 'Failed'].includes(String(dig(end, 'status'))))
            return [];
          const referrer: Fact['referrer'] = after => {
            const isOver = listOf(dig(after?.state, 'finished')).some(each => checkOf(each) === check);
            return isOver || shownSince(uid, 'cordon') >= context.now() - SLACK
              ? undefined
              : 'its fault is not over and its cordon stands';
          };
          return [[check, { words: `how the drain for ${check} ended`, referrer }]];
        }),
      );
    },
  };
};

/** Agent, class and check of an end. */
const checkOf = (end: unknown): string =>
  ['agent', 'componentClass', 'checkName'].map(part => textOf(dig(end, 'fault', part)) ?? '').join('/');
