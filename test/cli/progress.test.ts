import { createLateProgress } from '../../cli/progress.ts';
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../cli/progress.ts';

function terminal(options: { isTTY?: boolean; columns?: number }) {
  const written: string[] = [];
  return { ...options, written, write: (text: string) => written.push(text) };
}

describe('createProgress', () => {
  it('says nothing where the output is no terminal', () => {
    const pipe = terminal({});
    const progress = createProgress(pipe);
    progress.say('loading');
    progress.clear();
    expect(pipe.written).toEqual([]);
  });

  it('replaces its line and shows a percentage', () => {
    const screen = terminal({ isTTY: true, columns: 80 });
    const progress = createProgress(screen);
    progress.say('loading', { done: 1, of: 3 });
    progress.clear();
    expect(screen.written).toEqual(['\r\u001b[Kloading 33 %', '\r\u001b[K']);
  });

  it('never fills a whole line, which would wrap', () => {
    const screen = terminal({ isTTY: true, columns: 6 });
    createProgress(screen).say('a long text');
    expect(screen.written).toEqual(['\r\u001b[Ka lon']);
  });
});

it('of a run says nothing in the first two seconds', () => {
  let written = '';
  let now = 0;
  const progress = createLateProgress({ isTTY: true, write: text => (written += text) }, () => now);
  progress.say('early');
  progress.clear();
  expect(written).toBe('');
  now = 2000;
  progress.say('late');
  expect(written).toContain('late');
});

it('of a run that is piped is a line every ten seconds', () => {
  const pipe = terminal({});
  let now = 0;
  const progress = createLateProgress(pipe, () => now);
  for (now = 0; now <= 25_000; now += 100) progress.say(`at ${now}`, { done: now, of: 50_000 });
  progress.clear();
  expect(pipe.written).toEqual(['at 10000 20 %\n', 'at 20000 40 %\n']);
});
