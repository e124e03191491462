/** The forwarder in a fresh process: it lists and watches a large cluster, and publishes what it has seen. */
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import * as z from 'zod';
import { createForwarder } from '../../forwarder/forwarder.ts';
import { DEFAULT_SETTINGS } from '../../forwarder/settings.ts';
import { CLIENT_DEFAULTS } from '../../shared/adapters/aws-errors.ts';
import { createEventBus } from '../../shared/adapters/eventbridge/event-bus.ts';
import { createClusterWatch } from '../../shared/adapters/kubernetes/cluster-watch.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { systemClock } from '../../shared/adapters/system-clock.ts';
import { seconds } from '../../shared/domain/time.ts';
import { answerQuestions } from './answering.ts';
import { until } from './until.ts';
import { readUsage } from './usage.ts';

const followSchema = z.object({ url: z.string(), busUrl: z.string() });
const PATIENCE = { pollMs: 200, patienceMs: 600_000 };

answerQuestions({
  async follow(argument) {
    const { url, busUrl } = followSchema.parse(argument);
    const transport = createTransport({
      server: url,
      clock: systemClock,
      userAgent: 'curfew-bench',
      requestTimeout: seconds(60),
    });
    const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
    const client = new EventBridgeClient({ ...CLIENT_DEFAULTS, region: 'us-east-1', endpoint: busUrl, credentials });
    client.middlewareStack.remove('loggerMiddleware');
    const forwarder = createForwarder({
      watch: createClusterWatch(transport),
      bus: createEventBus({ client, busName: 'bench' }),
      clock: systemClock,
      metrics: { count: () => undefined, milliseconds: () => undefined },
      random: Math.random,
      config: { ...DEFAULT_SETTINGS, cluster: 'bench' },
    });
    const idle = readUsage();
    const startTime = performance.now();
    forwarder.start();
    const isDone = (): boolean => forwarder.ready().ready && forwarder.stats().queueDepth === 0;
    await until('the forwarder to have published all', isDone, PATIENCE);
    const ms = performance.now() - startTime;
    return { ms, idle, usage: readUsage() };
  },
});
