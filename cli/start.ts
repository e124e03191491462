/** `curfew start`: the story, the stack to play with, an example on it, or a real cluster. */
import { PROCESS_OUTPUT, type CommandOutput } from './command-output.ts';
import { reportFailure } from './failure.ts';
import { createTimeline, type Timeline } from './start/timeline.ts';
import { isTerminal } from '../simulator/terminal-colors.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';

const MAX_PORT = 65_535;

export interface StartOptions {
  readonly serve?: true;
  readonly example?: string;
  readonly port?: string;
  /** With `serve`: keeps its state. */
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly enforce?: true;
}

export interface StartParts {
  readonly output?: CommandOutput;
  /** With `kubeconfig`: ends the watch as Ctrl-C does. */
  readonly interrupted?: Promise<void>;
}

/** Resolves to the exit code: 2 when the options or the cluster do not allow it, with one line that says what to do. */
export async function startCommand(options: StartOptions, parts: StartParts = {}): Promise<number> {
  const { output = PROCESS_OUTPUT, interrupted } = parts;
  const terminal = { isTTY: isTerminal, columns: process.stdout.columns, write: output.out };
  const timeline = createTimeline(terminal, () => systemClock.now());

  const refusal = checkOptions(options);
  if (refusal !== undefined) {
    output.error(`${refusal}\n`);
    return 2;
  }
  try {
    return await run(options, timeline, interrupted);
  } catch (error) {
    timeline.endProgress();
    return reportFailure(error, output);
  }
}

async function run(options: StartOptions, timeline: Timeline, interrupted?: Promise<void>): Promise<number> {
  if (options.kubeconfig !== undefined) {
    const { watchCluster } = await import('./start/watch-cluster.ts');
    const { kubeconfig, context, enforce = false } = options;
    return watchCluster({ kubeconfig, context, enforce, ...(interrupted && { interrupted }) }, timeline);
  }
  const port = options.port === undefined ? undefined : Number(options.port);
  if (options.example !== undefined) {
    const { serveManagedDatabase } = await import('./start/managed-database.ts');
    return serveManagedDatabase(timeline, port);
  }
  if (options.serve === true) {
    const { serve } = await import('./start/serve.ts');
    return serve(timeline, { port, data: options.data });
  }
  const { playDemo } = await import('./start/demo.ts');
  return playDemo(timeline);
}

/** The examples of `examples/` that run on the local stack. */
export const EXAMPLES = ['managed-database'] as const;

function checkOptions(options: StartOptions): string | undefined {
  const { serve, example, port, data, kubeconfig, context, enforce } = options;
  if (data !== undefined && serve !== true) return '--data goes with --serve';
  if (example !== undefined && !EXAMPLES.some(known => known === example))
    return `there is no example ${JSON.stringify(example)}: give one of ${EXAMPLES.join(', ')}`;
  if (example !== undefined && kubeconfig !== undefined)
    return 'give either --example or --kubeconfig: one plays a cluster, the other watches yours';
  if (serve === true && kubeconfig !== undefined)
    return 'give either --serve or --kubeconfig: one plays a cluster, the other watches yours';
  if (kubeconfig === undefined && context !== undefined) return '--context goes with --kubeconfig';
  if (kubeconfig === undefined && enforce === true) return '--enforce goes with --kubeconfig';
  if (port !== undefined && serve !== true && example === undefined) return '--port goes with --serve and --example';
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= MAX_PORT))
    return `--port must be a number from 0 to 65535, not ${JSON.stringify(port)}`;
  return undefined;
}
