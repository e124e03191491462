/** The package must fit into a bundle for any JavaScript runtime, a Lambda's too. */
import path from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it('bundles without anything of Node and without packages', async () => {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `import { parse } from '@curfew/gotemplate'; import { TEMPLATE_DATA } from '@curfew/gotemplate/nvsentinel';
        export const out = parse('t', '{{.a}}').execute({ a: TEMPLATE_DATA.name });`,
      resolveDir: path.join(import.meta.dirname, '..'),
    },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    metafile: true,
    write: false,
  });
  expect(
    Object.keys(metafile.inputs).filter(input => !input.includes('gotemplate/src') && input !== '<stdin>'),
  ).toEqual([]);
  const code = outputFiles[0]?.text ?? '';
  const bundled = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as { out: string };
  expect(bundled.out).toBe('customdrain.TemplateData');
  expect(code).not.toMatch(/\beval\(|new Function\(/);
});
