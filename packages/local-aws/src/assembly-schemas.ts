/** The parts that are read of a cloud assembly's files. */
import { z } from 'zod';

export const manifestSchema = z.object({
  artifacts: z.record(
    z.string(),
    z.object({
      type: z.string(),
      properties: z
        .object({ templateFile: z.string().optional(), stackName: z.string().optional(), file: z.string().optional() })
        .prefault({}),
    }),
  ),
});

export const assetManifestSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

export const templateSchema = z.object({
  Resources: z
    .record(z.string(), z.object({ Type: z.string(), Properties: z.record(z.string(), z.unknown()).optional() }))
    .prefault({}),
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() }))
    .prefault({}),
  Parameters: z.record(z.string(), z.object({ Default: z.unknown().optional() })).prefault({}),
});
