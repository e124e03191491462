/**
 * The reference: `@kubernetes/client-node`'s informers for nodes and pods, which keep every object whole. Lists are read in pages as
 * ours are: in one piece, the pods of a large cluster do not even fit into one string.
 */
import {
  CoreV1Api,
  KubeConfig,
  makeInformer,
  type Informer,
  type KubernetesListObject,
  type KubernetesObject,
} from '@kubernetes/client-node';
import { answerQuestions } from '../measure/answering.ts';
import { readUsage } from '../measure/usage.ts';

const PAGE_SIZE = 500;

const config = new KubeConfig();
config.loadFromFile(process.argv[2] ?? '');
const core = config.makeApiClient(CoreV1Api);

let seen = 0;
const failures: string[] = [];

interface PageRequest {
  readonly limit: number;
  readonly _continue?: string;
}

async function listAll<Item extends KubernetesObject>(
  readPage: (request: PageRequest) => Promise<KubernetesListObject<Item>>,
): Promise<KubernetesListObject<Item>> {
  const items: Item[] = [];
  let token: string | undefined;
  for (;;) {
    const page = await readPage({ limit: PAGE_SIZE, ...(token !== undefined && { _continue: token }) });
    items.push(...page.items);
    // The client calls the field `continue` so, in requests too, because that is a word of the language.
    const { _continue: next } = page.metadata ?? {};
    token = next === '' ? undefined : next;
    if (token === undefined) return { ...page, items };
  }
}

const count = (): void => {
  seen += 1;
};

async function keep<Item extends KubernetesObject>(informer: Informer<Item>): Promise<void> {
  informer.on('add', count);
  informer.on('update', count);
  informer.on('delete', count);
  informer.on('error', error => failures.push(String(error)));
  await informer.start();
}

await Promise.all([
  keep(makeInformer(config, '/api/v1/nodes', () => listAll(request => core.listNode(request)))),
  keep(makeInformer(config, '/api/v1/pods', () => listAll(request => core.listPodForAllNamespaces(request)))),
]);

answerQuestions({ usage: readUsage, state: () => ({ seen, failures }) });
