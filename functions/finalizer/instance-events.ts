/** EC2's news of instances, as its events say them. */
import * as z from '../../shared/contract/zod.ts';
import { TerminalError } from '../../shared/errors.ts';

const schema = z.object({ 'instance-id': z.string().check(z.regex(/^i-[-0-9a-z]+$/)), state: z.string() });

/** Which instance changed its state. Throws `TerminalError` (`InvalidMessage`) for a detail that EC2 does not write. */
export function instanceOf(detail: Readonly<Record<string, unknown>>): string {
  const parsed = schema.safeParse(detail);
  if (parsed.success) return parsed.data['instance-id'];
  throw new TerminalError(
    'InvalidMessage',
    `detail of an instance's change is not valid: ${z.prettifyError(parsed.error)}`,
  );
}
