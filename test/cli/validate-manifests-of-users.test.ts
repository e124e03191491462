/** Manifests as users of Karpenter have them, and rules and policies as people first write them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validateCommand } from '../../cli/validate.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/manifests/of-users');
const REFUSALS: Readonly<Record<string, readonly string[]>> = {
  'refused-finalizer-of-karpenter.yaml': ['spec.termination.finalizerName: must not be in a domain'],
  'refused-finalizer-of-kubernetes.yaml': ['spec.finalizerName: must not be in a domain'],
  'refused-two-clean-ups.yaml': [
    'spec.finalizerName: must be a domain and a name',
    'spec.cleanup: must have exactly one',
  ],
};

async function validate(file: string): Promise<{ code: number; out: string }> {
  let out = '';
  const output = { out: (text: string) => void (out += text), error: (text: string) => void (out += text) };
  const code = await validateCommand([join(FOLDER, file)], {}, output);
  return { code, out };
}

describe('manifests of users', () => {
  it.each(readdirSync(FOLDER))('%s', async file => {
    const refusals = REFUSALS[file] ?? [];
    const { code, out } = await validate(file);
    expect({ code, out }).toMatchObject({ code: refusals.length > 0 ? 1 : 0 });
    for (const refusal of refusals) expect(out).toContain(refusal);
  });
});
