/**
 * The timers in the memory store, on virtual time: the real timer and repair functions in the in-process system. Halfway, every
 * environment of every function dies with what it was doing.
 */
import { createApiServer } from '../../packages/kube-apiserver/src/api-server.ts';
import { createInProcessClusterWatch } from '../../runtime/in-process/cluster-watch.ts';
import { createInProcessKubernetesApi } from '../../runtime/in-process/kubernetes-api.ts';
import type { Lifetime } from '../../runtime/lifetime.ts';
import { createMemoryRecordStore } from '../../runtime/memory/record-store.ts';
import { createCloud } from '../../simulator/cloud.ts';
import { createVirtualTime } from '../../simulator/virtual-time.ts';
import { createSystem } from '../../runtime/system.ts';
import { addDuration, hours, minutes, toDurationMs, toEpochMs } from '../../shared/domain/time.ts';
import type { KubernetesApi } from '../../shared/ports/kubernetes-api.ts';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';
import { recordFor, timerAt, type TimerPlan } from './armed.ts';
import { createLatenessLog, type LatenessLog } from './lateness.ts';
import { planSchema, SWEEPS, type TimersProgress, type TimersReport } from './report.ts';
import { measureSweep, type Sweep } from './sweep.ts';

const START = toEpochMs(Date.UTC(2026, 0, 5, 9, 0, 0));
/** Nothing is due yet. */
const LONG_BEFORE = toEpochMs(START - hours(1));
/** After the window, so that what was late has its time to come. */
const AFTERWARDS = minutes(15);

let progress: TimersProgress = { what: 'starting', done: 0, of: 1 };

answerQuestions({
  progress: () => progress,
  async run(argument) {
    const { armed, due, windowMs } = planSchema.parse(argument);
    const windowStart = addDuration(START, minutes(5));
    const plan: TimerPlan = { armed, due, windowStart, window: toDurationMs(windowMs) };
    const store = createMemoryRecordStore();

    const startTime = performance.now();
    let writes = 0;
    for (let index = 0; index < armed; index += 1) {
      const outcome = await store.put(recordFor(timerAt(plan, index)), 0);
      if (outcome.kind !== 'written') throw new Error(`timer ${index} was not written`);
      writes += 1;
      if (index % 10_000 === 0) await show({ what: 'arming', done: index, of: armed });
    }
    const armMs = performance.now() - startTime;

    const quiet: Sweep[] = [];
    const busy: Sweep[] = [];
    for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
      quiet.push(await measureSweep(store, LONG_BEFORE));
      busy.push(await measureSweep(store, windowStart));
    }

    const timers = Array.from({ length: due }, (_unused, index) => timerAt(plan, index));
    const log = createLatenessLog(timers);
    await runWindow(store, plan, log);
    const report: TimersReport = {
      store: 'memory',
      armMs,
      writes,
      quiet,
      busy,
      heapUsedBytes: readUsage().heapUsedBytes,
      lateness: [...log.lateness()],
      lost: log.open(),
    };
    return report;
  },
});

/** One turn of the event loop, in which the parent is answered. */
function show(now: TimersProgress): Promise<void> {
  progress = now;
  return new Promise(resolve => setImmediate(resolve));
}

async function runWindow(
  store: ReturnType<typeof createMemoryRecordStore>,
  { windowStart, window }: TimerPlan,
  log: LatenessLog,
): Promise<void> {
  const time = createVirtualTime({ start: START });
  const core = createApiServer({ clock: time });
  const cloud = createCloud(time);
  let environments: Lifetime[] = [];
  const system = createSystem({
    cluster: 'bench',
    scheduler: time,
    kubernetes: by => {
      const api = createInProcessKubernetesApi(core, by);
      const get: KubernetesApi['get'] = ref => {
        log.looked(ref.name, time.now());
        return api.get(ref);
      };
      return { ...api, get };
    },
    watch: createInProcessClusterWatch(core, time),
    records: store,
    dueIndex: store,
    instances: () => cloud.instances(() => undefined),
    audit: { write: () => undefined },
    hooks: {
      environment(ports, _name, lifetime) {
        environments.push(lifetime);
        return ports;
      },
      onFailed: (name, error) => {
        throw new Error(`${name} failed without a fault`, { cause: error });
      },
    },
  });
  system.start();
  const middle = addDuration(windowStart, toDurationMs(window / 2));
  time.at(middle, () => {
    for (const environment of environments) environment.end();
    environments = [];
    system.restartForwarder();
  });
  const end = addDuration(addDuration(windowStart, window), AFTERWARDS);
  const span = end - START;
  for (let now = START; now < end; now = addDuration(now, minutes(1))) {
    await show({ what: 'simulating', done: now - START, of: span });
    await time.runUntil(addDuration(now, minutes(1)));
  }
  await system.stop();
}
