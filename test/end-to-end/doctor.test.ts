/** `curfew doctor` on the local stack: what runs here is asked and found well or not, and what has no stand-in is said, and hides nothing. */
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { doctorCommand } from '../../cli/doctor.ts';
import { readDeployment } from '../../cli/operate/deployment.ts';
import { FUNCTION_NAMES } from '../../shared/contract/names.ts';
import { startLocalStack, type LocalStack } from '../../cli/start/local-stack.ts';

let stack: LocalStack;
const problems: string[] = [];

beforeAll(async () => {
  stack = await startLocalStack({ onProblem: problem => problems.push(problem) });
});
afterAll(() => stack.stop());
beforeEach(() => {
  for (const [name, value] of Object.entries({ ...stack.aws.clientEnv, AWS_MAX_ATTEMPTS: '1' }))
    vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

async function doctor() {
  let [out, error] = ['', ''];
  const code = await doctorCommand(
    { stack: 'Curfew', kubeconfig: stack.kubeconfigFile },
    { out: text => void (out += text), error: text => void (error += text) },
  );
  return { code, out, error };
}

const subjectsOf = (out: string, state: string): readonly string[] =>
  [...out.matchAll(new RegExp(`^${state} +([^:]+):`, 'gm'))].map(([, subject = '']) => subject);
const each = (what: string): readonly string[] => FUNCTION_NAMES.map(name => `${what} ${name}`);

it('asks all that runs here, and says of the rest that it is in AWS alone', async () => {
  const { code, out, error } = await doctor();
  expect([code, error, problems]).toEqual([1, '', []]);
  const onCluster = ['Kubernetes', 'definition of NodeLifecyclePolicy', 'definition of FinalizerRule'];
  const rights = ['finalizer', 'drain', 'repair', 'grace-period', 'forwarder'].map(name => `rights of ${name}`);
  expect(subjectsOf(out, 'ok')).toEqual([
    'version',
    ...each('inbox of'),
    ...each('dead letters of'),
    ...onCluster,
    ...rights,
  ]);
  // Nothing is installed by a manifest.
  expect(subjectsOf(out, 'FAILED')).toEqual(['ConfigMap curfew/curfew-config']);
  expect(subjectsOf(out, 'note')).toEqual(['stack Curfew', 'forwarder']);
  expect(out).toMatch(/^19 ok, 1 failed, 0 warning, 0 skipped$/m);
});

it('finds what came to be wrong: a dead letter, a right that was taken', async () => {
  const { aws, cluster } = stack;
  const [repair] = (await readDeployment('Curfew', {})).filter(({ name }) => name === 'repair');
  const sqs = new SQSClient({ endpoint: aws.clientEnv['AWS_ENDPOINT_URL_SQS'] ?? '' });
  await sqs.send(new SendMessageCommand({ QueueUrl: repair?.deadLettersUrl, MessageBody: '{}' }));
  const type = cluster.core.resourceForKind('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding');
  if (type === undefined) throw new Error('ClusterRoleBindings are not served');
  cluster.core.delete({ type, name: 'curfew-drain' });
  const { out } = await doctor();
  expect(out).toMatch(
    /^WARNING dead letters of repair: 1 wait\n +→ curfew redrive --stack Curfew --function repair --dry-run/m,
  );
  expect(out).toMatch(/^FAILED +rights of drain: .*\n +→ kubectl apply/m);
  expect(subjectsOf(out, 'ok')).toContain('rights of repair');
});
