/**
 * A number that a document for contributors states is that of the constant. `{}` stands for it: in digits, or as a word up to ten.
 * A user's documents are held by tests of their own (`fields.test.ts`, `costs.test.ts`, `observability.test.ts`).
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../architecture/sources.ts';

interface Stated {
  readonly document: string;
  readonly text: string;
  /** `file: CONSTANT`, or a setting of the forwarder by the name of its field. */
  readonly constant: string;
}

const GLOSSARY = 'docs/internals/glossary.md';
const FORWARDER = 'docs/internals/forwarder.md';
const FORWARDER_SETTINGS = 'forwarder/settings.ts';
/** The only decision of that number. */
const decision = (number: string): string => globSync(`docs/adr/${number}-*.md`, { cwd: root })[0] ?? number;

const STATED: readonly Stated[] = [
  { document: decision('0001'), text: 'up to {} s ahead', constant: 'functions/timer/decide.ts: SWEEP_AHEAD' },
  {
    document: decision('0001'),
    text: 'leaves it alone for {} s',
    constant: 'functions/timer/decide.ts: OWN_WAKE_UP_ARRIVES_WITHIN',
  },
  {
    document: decision('0008'),
    text: 'gives a message up after {} receives',
    constant: 'shared/contract/inbox.ts: MAX_RECEIVES',
  },
  {
    document: decision('0008'),
    text: 'is parked after {} receives',
    constant: 'shared/contract/inbox.ts: MAX_BUG_RECEIVES',
  },
  {
    document: decision('0008'),
    text: 'to the next one after {} receives',
    constant: 'shared/contract/inbox.ts: MAX_REPEATED_RECEIVES',
  },
  {
    document: decision('0017'),
    text: 'is woken by itself {} minutes later',
    constant: 'functions/finalizer/orphans/wake-ups.ts: SECOND_LOOK',
  },
  { document: GLOSSARY, text: 'at most {} in a row', constant: 'shared/lifecycle/settle.ts: MAX_TURNS' },
  { document: GLOSSARY, text: 'makes at most {} effects', constant: 'shared/lifecycle/settle.ts: MAX_EFFECTS' },
  {
    document: GLOSSARY,
    text: 'has called the node unhealthy for {} minutes',
    constant: 'functions/repair/node/rule/incident.ts: HEALTHY_FOR',
  },
  { document: FORWARDER, text: 'come in pages of {}.', constant: `${FORWARDER_SETTINGS}: pageSize` },
  {
    document: FORWARDER,
    text: 'Nodes, which are large, come in pages of {}.',
    constant: 'forwarder/resources.ts: pageSizeMax',
  },
  { document: FORWARDER, text: 'is watched, and {} minutes longer', constant: `${FORWARDER_SETTINGS}: linger` },
  { document: FORWARDER, text: 'It waits at most {} s for step 3', constant: `${FORWARDER_SETTINGS}: readyWithin` },
  { document: FORWARDER, text: 'more than {} kinds', constant: `${FORWARDER_SETTINGS}: kindsMax` },
  {
    document: 'docs/forwarder.md',
    text: 'nothing came for {} s',
    constant: `${FORWARDER_SETTINGS}: longestInactivity`,
  },
  {
    document: decision('0024'),
    text: 'looks again after {} s',
    constant: 'functions/repair/rule/concurrency-limits.ts: FULL_CHECK',
  },
  {
    document: decision('0024'),
    text: 'holds {} reservations',
    constant: 'functions/repair/rule/concurrency-limits.ts: MAX_RESERVATIONS',
  },
  {
    document: decision('0032'),
    text: '{} seconds before the end of a run',
    constant: 'shared/lambda/run-time.ts: TIME_TO_HIDE',
  },
  { document: decision('0032'), text: '{} second before it', constant: 'shared/lambda/run-time.ts: TIME_TO_ANSWER' },
  {
    document: decision('0046'),
    text: 'delay the end by {} s',
    constant: 'functions/finalizer/termination/rule/hook.ts: MAX_DELAY_PER_HOOK',
  },
  {
    document: decision('0046'),
    text: 'all of them by {} s',
    constant: 'functions/finalizer/termination/rule/hook.ts: MAX_DELAY_OF_HOOKS',
  },
  {
    document: decision('0047'),
    text: 'once it has lasted {} minutes',
    constant: 'shared/domain/refusal.ts: TRANSIENT_FAILURE',
  },
  { document: decision('0047'), text: 'that loses {} races', constant: 'shared/lifecycle/settle.ts: MAX_TURNS' },
  {
    document: decision('0048'),
    text: 'tells at most {} objects',
    constant: 'functions/grace-period/decide.ts: MAX_OBJECTS_PER_RUN',
  },
  { document: decision('0048'), text: '{} receives last a day', constant: 'shared/contract/inbox.ts: MAX_RECEIVES' },
  {
    document: decision('0048'),
    text: 'a day, {} most of an hour',
    constant: 'shared/contract/inbox.ts: MAX_BUG_RECEIVES',
  },
  {
    document: decision('0049'),
    text: 'looks again after {} s',
    constant: 'functions/repair/rule/concurrency-limits.ts: FULL_CHECK',
  },
  {
    document: 'CONTRIBUTING.md',
    text: 'with more than {} lines',
    constant: 'test/architecture/figures.test.ts: MAX_LINES',
  },
  { document: 'CONTRIBUTING.md', text: '{} hostile cases', constant: 'test/fuzz/hostile.ts: RUNS' },
];

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const spelled = (value: number): readonly string[] => {
  const word = WORDS[value] ?? String(value);
  return [String(value), value.toLocaleString('en'), word, `${word[0]?.toUpperCase()}${word.slice(1)}`];
};

function valueOf(constant: string): number {
  const [file = '', name = ''] = constant.split(': ');
  const stated = new RegExp(`\\b${name}(?: = |: )(?:\\w+\\()?([\\d_.]+)`).exec(readFileSync(join(root, file), 'utf8'));
  return Number(stated?.[1]?.replaceAll('_', ''));
}

it.each(STATED)('$document: $text', ({ document, text, constant }) => {
  const value = valueOf(constant);
  expect(value).not.toBeNaN();
  const said = readFileSync(join(root, document), 'utf8').replaceAll(/\s+/g, ' ');
  expect(spelled(value).filter(number => said.includes(text.replace('{}', number)))).not.toEqual([]);
});
