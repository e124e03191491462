/**
 * From the deletion of a NodeClaim to the end of its node under a custom finalizer, with pods that stop at once: Curfew on the local
 * stack, and a bare loop of the same calls, node by node in turn on the same API server. An instance takes no time to end here.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { startLocalStack } from '../cli/start/local-stack.ts';
import { startEc2 } from '../packages/local-aws/src/ec2/ec2.ts';
import { FAKE_CREDENTIALS } from '../packages/local-aws/src/fake-credentials.ts';
import type { ApiServerCore } from '../packages/kube-apiserver/src/types.ts';
import { systemClock } from '../shared/adapters/system-clock.ts';
import { RESOURCES } from '../shared/contract/resources.ts';
import { seconds } from '../shared/domain/time.ts';
import type { Bench, BenchContext, BenchOutcome } from './bench.ts';
import { startMeasuredProcess } from './measure/measured-process.ts';
import { measureInterleaved } from './measure/rounds.ts';
import { percentile } from './measure/statistics.ts';
import { until } from './measure/until.ts';
import { atMost, numberRow, ratioRow } from './report/row.ts';
import {
  claimFor,
  FINALIZERS,
  instanceIdOf,
  nodeFor,
  nodeNameOf,
  podFor,
  SETTINGS,
  type Terminator,
} from './terminate/objects.ts';

const BARE_LOOP = join(import.meta.dirname, 'terminate', 'bare-loop-process.ts');
const P50_MAX_MS = 1000;
const PODS = 15;
const WARM_UP_ROUNDS = 5;
/** Between two samples, in which Curfew ends what it has to do with the node before. */
const PAUSE_MS = 500;
const PATIENCE = { pollMs: 2, patienceMs: 120_000 };
const [REGION, ACCOUNT] = ['us-east-1', '000000000000'];

export const terminate: Bench = {
  summary: 'termination of a node with 15 pods under a custom finalizer, against a bare loop of the same calls',
  runsOnControlPlane: false,
  run: runTerminate,
};

async function runTerminate({ quick, progress }: BenchContext): Promise<BenchOutcome> {
  const rounds = quick ? 3 : 30;
  const problems: string[] = [];
  await using parts = new AsyncDisposableStack();
  const ec2 = await startEc2({
    model: { region: REGION, account: ACCOUNT },
    clock: systemClock,
    stateTakes: { pending: seconds(0), 'shutting-down': seconds(0) },
  });
  parts.defer(() => ec2.stop());
  progress.say('terminate: starting the local stack');
  const stack = await startLocalStack({
    onProblem: problem => problems.push(problem),
    extraEnv: { AWS_ENDPOINT_URL_EC2: ec2.endpoint },
  });
  parts.defer(() => stack.stop());
  const { core, url } = stack.cluster;
  for (const manifest of SETTINGS) core.seed(manifest);
  const bare = parts.use(
    startMeasuredProcess(BARE_LOOP, {
      args: [url],
      env: {
        AWS_REGION: REGION,
        AWS_ACCESS_KEY_ID: FAKE_CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: FAKE_CREDENTIALS.secretAccessKey,
        AWS_ENDPOINT_URL_EC2: ec2.endpoint,
      },
    }),
  );
  await until('the bare loop', () => bare.ask('ready', z.boolean()), PATIENCE);

  const released = followReleases(core);
  const samplerOf = (terminator: Terminator): (() => Promise<number>) => {
    let index = 0;
    return async () => {
      index += 1;
      ec2.fleet.launch({ instanceId: instanceIdOf(terminator, index) });
      return await sampleOf(core, released, terminator, index);
    };
  };
  const samples = await measureInterleaved(
    { curfew: samplerOf('curfew'), bare: samplerOf('bare') },
    {
      rounds,
      warmUpRounds: WARM_UP_ROUNDS,
      onRound: (done, of) => progress.say('terminate: deleting NodeClaims', { done, of }),
    },
  );
  const [ours = [], reference = []] = [samples.get('curfew'), samples.get('bare')];
  return {
    settings: { rounds, warmUpRounds: WARM_UP_ROUNDS, pods: PODS, pauseMs: PAUSE_MS },
    rows: [
      numberRow({ name: 'deletion to released, p50', unit: 'ms', ours, limit: atMost(P50_MAX_MS) }),
      numberRow({ name: 'deletion to released, p99', unit: 'ms', ours: percentile(ours, 99) }),
      ratioRow({ name: 'against the bare loop', unit: 'ms', ours, reference }),
    ],
    samples: { curfew: ours, bare: reference, problems },
  };
}

/** Milliseconds from the accepted deletion of the NodeClaim until Node and NodeClaim are gone. */
async function sampleOf(
  core: ApiServerCore,
  released: ReadonlyMap<string, number>,
  terminator: Terminator,
  index: number,
): Promise<number> {
  const name = nodeNameOf(terminator, index);
  const refs = [
    { type: RESOURCES.NodeClaim, name },
    { type: RESOURCES.Node, name },
  ];
  core.seed(claimFor(terminator, index));
  core.seed(nodeFor(terminator, index));
  for (let pod = 0; pod < PODS; pod += 1) core.seed(podFor(terminator, index, pod));
  const finalizer = FINALIZERS[terminator];
  const isHeld = (): boolean => refs.every(ref => core.get(ref).metadata.finalizers?.includes(finalizer));
  await until(`the finalizer on ${name}`, isHeld, PATIENCE);
  await sleep(PAUSE_MS);
  const start = performance.now();
  core.delete({ type: RESOURCES.NodeClaim, name }, { user: 'bench' });
  const isReleased = (): boolean => released.has(`Node/${name}`) && released.has(`NodeClaim/${name}`);
  await until(`the end of ${name}`, isReleased, PATIENCE);
  const end = Math.max(released.get(`Node/${name}`) ?? NaN, released.get(`NodeClaim/${name}`) ?? NaN);
  await sleep(PAUSE_MS);
  return end - start;
}

/** When each object was gone, by kind and name. */
function followReleases(core: ApiServerCore): ReadonlyMap<string, number> {
  const released = new Map<string, number>();
  core.observe(({ resource, ref, before, after }) => {
    if (before !== undefined && after === undefined) released.set(`${resource.kind}/${ref.name}`, performance.now());
  });
  return released;
}
