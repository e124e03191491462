/** `npm start -- --serve`: the local stack stays up, for kubectl and any client. */
import { join } from 'node:path';
import type { ApiServerCore } from '../../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { untilInterrupted } from './interruption.ts';
import { startLocalStack } from './local-stack.ts';
import { followCluster, type LivePage } from './live.ts';
import { keepObjects } from './kept-objects.ts';
import { narrateAudit, narrateEvent, narrateWrite, readAuditLine, readProblem } from './narrate.ts';
import { playgroundObjects } from './story.ts';
import type { Timeline } from './timeline.ts';

export interface ServeOptions {
  readonly port: number | undefined;
  /** Folder that keeps objects and records over restarts. */
  readonly data: string | undefined;
}

/** Resolves to the exit code once SIGINT or SIGTERM came and everything is stopped. Throws `UsageError` for a folder that cannot be used. */
export async function serve(timeline: Timeline, { port, data }: ServeOptions): Promise<number> {
  let live: LivePage | undefined;
  let isResumed = false;
  const stack = await startLocalStack({
    ...(port !== undefined && { port }),
    ...(data !== undefined && {
      dataDir: join(data, 'records'),
      onCluster: (core: ApiServerCore) => {
        const kept = keepObjects(core, data);
        isResumed = kept.wereThere;
        return () => kept.close();
      },
    }),
    onEvent: event => narrateEvent(timeline, event),
    onStep: step => timeline.step(`  ${step} …`),
    onProblem: message => timeline.bad(message),
    onLog: line => {
      const audit = readAuditLine(line);
      if (audit !== undefined) {
        narrateAudit(timeline, audit);
        live?.hear(audit);
      }
      const problem = readProblem(line);
      if (problem !== undefined) timeline.bad(problem);
    },
  });
  live = followCluster(stack.cluster.core, systemClock);
  const page = await live.listen();
  try {
    if (!isResumed) for (const manifest of playgroundObjects(systemClock.now())) stack.cluster.core.seed(manifest);
    stack.cluster.core.observe(write => narrateWrite(timeline, write));
    timeline.begin(systemClock.now());
    timeline.heading(`The API server listens on ${stack.cluster.url}`);
    timeline.plain(`  export KUBECONFIG=${stack.kubeconfigFile}`);
    timeline.plain('  kubectl get nodes,nodeclaims');
    timeline.plain(`  ${page.url} shows what happens, live`);
    timeline.plain(`  export AWS_CONFIG_FILE=${stack.awsConfigFile}`);
    timeline.plain('  npx curfew audit --follow');
    timeline.plain('  npx curfew event send HealthEvent --node node-3');
    timeline.plain(
      isResumed
        ? `  The objects are those of ${data ?? ''}.`
        : '  node-1 has had no network for nine and a half minutes, and no policy says what to do. This one does:',
    );
    if (!isResumed) timeline.plain('  kubectl apply -f examples/playground');
    timeline.plain();
    timeline.plain(`  forwarder: pid ${stack.forwarder.pid() ?? '?'}`);
    timeline.plain(`  DynamoDB:  ${stack.aws.endpoints.dynamoDb} (${stack.aws.dynamoDb.implementation})`);
    // Listened to before it is offered.
    const interrupted = untilInterrupted();
    timeline.plain('  Ctrl-C ends it.');
    timeline.plain();
    await interrupted;
    timeline.plain('stopping');
    return 0;
  } finally {
    await page.close();
    await stack.stop();
  }
}
