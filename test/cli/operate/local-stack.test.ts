/** What `curfew doctor` and `curfew stop` say of the stack of `npm start -- --serve`, where much of AWS is not there. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { doctorCommand } from '../../../cli/doctor.ts';
import { resumeCommand, stopCommand } from '../../../cli/stop-resume.ts';
import { startCloudFormation } from '../../../packages/local-aws/src/cloudformation.ts';
import { startSqs, type LocalSqs } from '../../../packages/local-aws/src/sqs.ts';
import { FUNCTION_NAMES } from '../../../shared/contract/names.ts';
import { operationOutputId, VERSION_OUTPUT } from '../../../shared/contract/operation-outputs.ts';
import { VERSION } from '../../../shared/contract/version.ts';

const ACCOUNT = '000000000000';
const REGION = 'us-east-1';
let sqs: LocalSqs;
let cloudFormation: Awaited<ReturnType<typeof startCloudFormation>>;

beforeAll(async () => {
  sqs = await startSqs({ region: REGION, account: ACCOUNT });
  await sqs.createQueues(['inbox', 'dead'].map(name => ({ name, arn: '', url: '', attributes: {} })));
  const outputs: Record<string, string> = { [VERSION_OUTPUT]: VERSION };
  for (const name of FUNCTION_NAMES) {
    outputs[operationOutputId(name, 'EventSource')] = `source-${name}`;
    outputs[operationOutputId(name, 'Schedule')] = `tick-${name}`;
    outputs[operationOutputId(name, 'Inbox')] = `${sqs.endpoint}/${ACCOUNT}/inbox`;
    outputs[operationOutputId(name, 'DeadLetters')] = `${sqs.endpoint}/${ACCOUNT}/dead`;
  }
  cloudFormation = await startCloudFormation({
    model: { region: REGION, account: ACCOUNT, stacks: [{ name: 'Curfew', outputs }] },
  });
  const env = {
    AWS_CONFIG_FILE: '/dev/null',
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_MAX_ATTEMPTS: '1',
    // Whoever asks anything else gets no answer.
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.endpoint,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
  };
  for (const [key, value] of Object.entries(env)) vi.stubEnv(key, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await cloudFormation.stop();
  await sqs.stop();
});

async function run(command: (output: { out(text: string): void; error(text: string): void }) => Promise<number>) {
  let [out, error] = ['', ''];
  const code = await command({ out: text => void (out += text), error: text => void (error += text) });
  return { code, out, error };
}

it('doctor looks at what is there, and says what is not and where to look instead', async () => {
  const { code, out, error } = await run(output => doctorCommand({ stack: 'Curfew' }, output));
  expect([code, error]).toEqual([0, '']);
  expect(out.split('\n').slice(0, 2)).toEqual([
    'note    stack Curfew: is of npm start -- --serve, on this machine: event sources, ticks, alarms, access entries, backups and quotas are in AWS alone',
    '          → npx curfew audit --follow shows what the functions do',
  ]);
  for (const name of FUNCTION_NAMES) expect(out).toContain(`ok      dead letters of ${name}: none\n`);
  expect(out).toContain(`ok      version: ${VERSION}\n`);
  expect(out).toMatch(/^\d+ ok, 0 failed, 0 warning, 0 skipped$/m);
});

it.each([stopCommand, resumeCommand])('%o switches nothing, and says what stops it', async command => {
  const { code, out, error } = await run(output => command({ stack: 'Curfew' }, { output }));
  expect([code, out]).toEqual([2, '']);
  expect(error.split('\n')).toEqual([
    'this is the stack of npm start -- --serve, which has no event sources and schedules to switch: nothing was changed',
    '  Ctrl-C where it runs stops everything',
    `  kubectl patch nlp NAME --type merge -p '{"spec":{"mode":"Observe"}}' stops one policy`,
    '',
  ]);
});
