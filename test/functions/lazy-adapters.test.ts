import { describe, expect, it } from 'vitest';
import { RECONCILERS } from '../../runtime/functions.ts';
import { makeDeps } from '../../shared/lambda/deps.ts';
import { DEPLOYED_FUNCTIONS } from '../../shared/contract/routes.ts';

// A function's adapters are made when they are first used, and it has the settings of those alone that it uses. A spread over them
// once asked for all: the deployed function ended while its module was loading.
describe('a deployed function', () => {
  it.each(DEPLOYED_FUNCTIONS)('%s asks for no adapter while it is put together', name => {
    const metrics = { count: () => undefined, milliseconds: () => undefined };
    const log = { warn: () => undefined };
    const { deps } = makeDeps({ name, env: {}, audit: { write: () => undefined }, metrics, log });
    const create = RECONCILERS[name];
    expect(create).toBeTypeOf('function');
    expect(() => create?.(deps)).not.toThrow();
  });
});
