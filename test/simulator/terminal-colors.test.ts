import { expect, it } from 'vitest';
import { isCapable, wantsColors } from '../../simulator/terminal-colors.ts';

it.each([
  ['a terminal', { isTTY: true }, { TERM: 'xterm' }, true, true],
  ['a pipe', {}, { TERM: 'xterm' }, false, false],
  ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, false, false],
  ['a terminal of somebody who wants no colours', { isTTY: true }, { TERM: 'xterm', NO_COLOR: '1' }, true, false],
  ['an empty NO_COLOR', { isTTY: true }, { NO_COLOR: '' }, true, true],
])('%s', (_, stream, env, capable, colours) => {
  expect([isCapable(stream, env), wantsColors(stream, env)]).toEqual([capable, colours]);
});
