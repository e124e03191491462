import { expect, it } from 'vitest';
import { checkPrerequisites } from '../../cli/start/prerequisites.ts';
import { createTransport } from '../../shared/adapters/kubernetes/transport.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { json, serve, status } from '../shared/adapters/kubernetes/scripted-server.ts';

/** The start of a command on a cluster that allows everything and answers like this for groups. */
async function check(answerGroup: (response: Parameters<typeof json>[0]) => void) {
  const server = await serve((request, response) => {
    if (request.url.startsWith('/apis/authorization.k8s.io')) {
      return json(response, 201, { kind: 'SelfSubjectAccessReview', status: { allowed: true } });
    }
    return answerGroup(response);
  });
  const transport = createTransport({ server: server.url, clock: createManualClock(), userAgent: 'curfew-test' });
  return checkPrerequisites(transport, false);
}

it('takes the 404 of an API server for a missing definition', async () => {
  await expect(check(response => json(response, 404, status(404, 'NotFound', 'not found')))).rejects.toThrow(
    "the cluster does not serve nodeclaims.karpenter.sh and nodepools.karpenter.sh: install Karpenter's CRDs",
  );
});

it.each([
  [404, '<html>404 Not Found</html>'],
  [200, '<html>Welcome</html>'],
  [503, 'no backend'],
])('takes nothing for missing because of an answer %i that is no API server’s', async (code, page) => {
  expect(
    await check(response => {
      response.writeHead(code, { 'content-type': 'text/html' });
      response.end(page);
    }),
  ).toEqual([]);
});
