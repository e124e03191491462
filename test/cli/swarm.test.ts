import { expect, it } from 'vitest';
import { swarmCommand } from '../../cli/swarm.ts';

it('says at Ctrl-C what held so far, and begins no further seed', async () => {
  const interruption = new AbortController();
  interruption.abort();
  let [out, error] = ['', ''];
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (error += text) };
  const options = { seeds: '1..3', faults: 'none', jobs: '1', interrupted: interruption.signal };
  expect(await swarmCommand(options, output)).toBe(130);
  expect(out).toBe('');
  expect(error).toBe('stopped after 0 of 3 seeds: nothing is known yet\n');
});
