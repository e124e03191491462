import { describe, expect, it } from 'vitest';
import { createLifetime, mortal, mortalStream } from '../../runtime/lifetime.ts';

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

/** What became of a promise by now. */
async function fate(promise: Promise<unknown>): Promise<string> {
  let state = 'pending';
  promise.then(
    () => (state = 'resolved'),
    () => (state = 'rejected'),
  );
  await turn();
  return state;
}

describe('mortal', () => {
  const port = {
    value: 7,
    calls: 0,
    async read() {
      this.calls += 1;
      return this.value;
    },
    async fail() {
      throw new Error('no');
    },
  };

  it('passes everything on while alive', async () => {
    const guarded = mortal(createLifetime(), port);
    expect(guarded.value).toBe(7);
    await expect(guarded.read()).resolves.toBe(7);
    await expect(guarded.fail()).rejects.toThrow('no');
  });

  it('never answers a call that was under way when the life ended, though it took place', async () => {
    const lifetime = createLifetime();
    const before = port.calls;
    const answers = [mortal(lifetime, port).read(), mortal(lifetime, port).fail()];
    lifetime.end();
    expect(await Promise.all(answers.map(fate))).toEqual(['pending', 'pending']);
    expect(port.calls).toBe(before + 1);
  });

  it('lets no call through afterwards', async () => {
    const lifetime = createLifetime();
    lifetime.end();
    const before = port.calls;
    expect(await fate(mortal(lifetime, port).read())).toBe('pending');
    expect(port.calls).toBe(before);
  });
});

describe('mortalStream', () => {
  it('falls silent when the life ends', async () => {
    const lifetime = createLifetime();
    const iterator = mortalStream(
      lifetime,
      (async function* () {
        yield 1;
        yield 2;
      })(),
    )[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    lifetime.end();
    expect(await fate(iterator.next())).toBe('pending');
  });
});
