/** Configurations as users of NVSentinel have them, and templates that print values without quotes. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { validateCommand, type ValidateOptions } from '../../cli/validate.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/drain/of-users');
const DESIGN = join(import.meta.dirname, '../fixtures/drain/design-template.yaml');

async function validate(file: string, options: ValidateOptions = {}): Promise<{ code: number; out: string }> {
  let out = '';
  const code = await validateCommand([join(FOLDER, file)], options, {
    out: text => void (out += text),
    error: text => void (out += text),
  });
  return { code, out };
}

describe('configurations of users', () => {
  it.each(readdirSync(FOLDER).filter(name => name.endsWith('.toml')))('%s', async file => {
    const { code, out } = await validate(file);
    expect({ code, out }).toMatchObject({ code: file.startsWith('refused-') ? 1 : 0 });
  });
});

describe('a template that prints values without quotes', () => {
  it('is accepted, and each value is named with its line', async () => {
    const { code, out } = await validate('custom.toml');
    expect(code).toBe(0);
    expect(out).toContain('template.yaml:4:28: warning: .HealthEvent.NodeName is printed without quotes');
    expect(out).toContain('template.yaml:7:');
    expect(out).toContain('template.yaml:10:27: warning: .HealthEvent.Message is printed without quotes');
    expect(out).not.toContain('CheckName is printed');
    expect(out).toContain('Configuration custom.toml is accepted, with 3 warnings');
    expect(out).not.toContain('is valid');
  });

  it('is refused for an event that breaks it', async () => {
    const { code, out } = await validate('custom.toml', { event: join(FOLDER, 'event.json') });
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('is not YAML') as string });
  });

  it('is that of the design', async () => {
    const { code, out } = await validate('custom.toml', { template: DESIGN });
    expect(code).toBe(0);
    expect(out).toContain('.HealthEvent.Message is printed without quotes');
    expect(out).not.toContain('is valid');
  });

  it('is none of the examples', async () => {
    for (const example of ['slurm-drain', 'checkpoint-drain']) {
      const template = join(import.meta.dirname, `../../examples/${example}/manifests/drain-template.yaml`);
      expect((await validate('custom.toml', { template })).out).toContain('is valid');
    }
  });
});
