/** The Lambda handler in a process: each message is an invocation. */
import { handler } from '../../examples/slurm-drain/bridge/handler.ts';

process.on('message', () => {
  handler().then(
    () => process.send?.('done'),
    (error: unknown) => process.send?.(String(error)),
  );
});
