import { describe, expect, it } from 'vitest';
import { definitionOf } from '../../infra/function-definitions.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { DEPLOYED_FUNCTIONS } from '../../shared/contract/routes.ts';

describe('functions', () => {
  it('run no more at once than the API server is to bear, which one process over a cluster keeps to as well', () => {
    const most = DEPLOYED_FUNCTIONS.map(name => definitionOf(name).maxConcurrency);
    expect(Math.max(...most)).toBe(MAX_CONCURRENCY);
    // SQS takes no less.
    expect(Math.min(...most)).toBeGreaterThanOrEqual(2);
  });
});
