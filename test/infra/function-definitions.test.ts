import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FUNCTION_DEFINITIONS } from '../../packages/curfew-cdk/src/function-definitions.ts';
import { MAX_CONCURRENCY } from '../../shared/contract/inbox.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';

describe('functions', () => {
  it('run no more at once than the API server is to bear, which one process over a cluster keeps to as well', () => {
    const most = FUNCTION_NAMES.map(name => FUNCTION_DEFINITIONS[name].maxConcurrency);
    expect(Math.max(...most)).toBe(MAX_CONCURRENCY);
    // SQS takes no less.
    expect(Math.min(...most)).toBeGreaterThanOrEqual(2);
  });

  it('need the concurrency of the account that docs/deploying.md says', () => {
    const sum = FUNCTION_NAMES.reduce((total, name) => total + FUNCTION_DEFINITIONS[name].maxConcurrency, 0);
    const document = readFileSync(join(import.meta.dirname, '../../docs/deploying.md'), 'utf8');
    expect(document).toContain(`works on at most ${sum} batches at once`);
  });
});
