/** `npm start -- --serve`: the local stack stays up, for kubectl and any client. */
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { untilInterrupted } from './interruption.ts';
import { startLocalStack } from './local-stack.ts';
import { followCluster, type Live } from './live.ts';
import { narrateAudit, narrateWrite, readAuditLine, readProblem } from './narrate.ts';
import { playgroundObjects } from './story.ts';
import type { Timeline } from './timeline.ts';

/** Resolves to the exit code once SIGINT or SIGTERM came and everything is stopped. */
export async function serve(timeline: Timeline, port: number | undefined): Promise<number> {
  let live: Live | undefined;
  const stack = await startLocalStack({
    ...(port !== undefined && { port }),
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
    for (const manifest of playgroundObjects(systemClock.now())) stack.cluster.core.seed(manifest);
    stack.cluster.core.observe(write => narrateWrite(timeline, write));
    timeline.begin(systemClock.now());
    timeline.heading(`The API server listens on ${stack.cluster.url}`);
    timeline.plain(`  export KUBECONFIG=${stack.kubeconfigFile}`);
    timeline.plain('  kubectl get nodes,nodeclaims');
    timeline.plain(`  ${page.url} shows what happens, live`);
    timeline.plain(`  AWS_CONFIG_FILE=${stack.awsConfigFile} npm run curfew -- audit --follow`);
    timeline.plain(
      '  node-1 has had no network for nine and a half minutes. No policy says what to do: docs/guides/getting-started.md has one.',
    );
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
