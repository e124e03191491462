/** What a document names exists in the code: annotations, reasons, metrics, alarms, commands with their options, files. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMAND_DEFINITIONS, commands, DECISIONS, DOCUMENTS, inlineCode, ROOT } from './documents.ts';

const sources = globSync(
  '{test/control-plane,test/aws,test/shared,shared,functions,forwarder,infra,runtime,simulator,cli,packages,deploy,examples/{*-drain,managed-database},test/examples}/**/*.{ts,cjs,yaml,env,toml}',
  {
    cwd: ROOT,
  },
).filter(file => !/node_modules|packages\/[\w-]+\/test\//.test(file));
const code = sources.map(file => readFileSync(join(ROOT, file), 'utf8')).join('\n');
const words = new Set(code.match(/\w+/g));

/** Words of Kubernetes, Karpenter and AWS that the code has no use for. */
const OF_OTHERS = new Set([
  'API_AND_CONFIG_MAP',
  'CurfewState', // name of a stack, made of the deployment's
  'FEATURE_GATES',
  'KernelDeadlock',
  'NodeRepair',
  'ROLLBACK_COMPLETE',
  'RULE_ARN',
  'apiserver_request_duration_seconds',
  'karpenter.sh/do-not-repair', // of Karpenter 1.15
]);

const inCode = [...DOCUMENTS, ...DECISIONS].flatMap(document =>
  inlineCode(document).map(name => ({ file: document.file, name })),
);
/** Those that `looksLike` what is checked and fail it, as `file: name`. */
function unknown(looksLike: RegExp, isKnown: (name: string) => boolean): readonly string[] {
  const found = inCode.filter(({ name }) => looksLike.test(name));
  expect(found).not.toEqual([]);
  return found.filter(({ name }) => !OF_OTHERS.has(name) && !isKnown(name)).map(({ file, name }) => `${file}: ${name}`);
}

describe('a name in a document exists in the code', () => {
  it('finds the documents and the code', () => {
    expect(DOCUMENTS.length).toBeGreaterThan(8);
    expect(sources.length).toBeGreaterThan(200);
  });

  it('annotation, label or finalizer', () => {
    expect(
      unknown(/^([\w.-]+\.)?(curfew\.dev|karpenter\.sh)\/[\w.-]+/, name => {
        const [key = ''] = /^[\w.-]+\/[\w.-]*\w/.exec(name) ?? [];
        return code.includes(key);
      }),
    ).toEqual([]);
  });

  it('reason of an Event, a decision or a dead letter; metric of a function', () => {
    expect(unknown(/^[A-Z][a-z]+([A-Z][a-z]+)+$/, name => words.has(name))).toEqual([]);
  });

  it('metric of the forwarder', () => {
    // In lines of the functions, by Powertools: test/shared/lambda/handler.test.ts.
    const powertools = new Set(['function_arn', 'function_memory_size', 'sampling_rate']);
    // `events_seen_total` is made of EventsSeen.
    const counted = (name: string): string =>
      name
        .replace(/_(total|seconds)$/, '')
        .replaceAll(/(^|_)([a-z])/g, (_, _before, letter: string) => letter.toUpperCase());
    expect(
      unknown(/^[a-z]+(_[a-z]+)+$/, name => words.has(name) || words.has(counted(name)) || powertools.has(name)),
    ).toEqual([]);
  });

  it('environment variable', () => {
    expect(unknown(/^[A-Z]+(_[A-Z]+)+$/, name => words.has(name))).toEqual([]);
  });

  it('alarm, which is a paragraph of the runbook', () => {
    const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const named = DOCUMENTS.filter(({ file }) => file !== 'docs/simulation.md').flatMap(({ file, text }) =>
      [...text.matchAll(/(?<![*\w])\*([A-Z][a-z]+( [a-z]+)+|Stopping Curfew)\*/g)].map(([, name]) => ({ file, name })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ name }) => !headings.includes(name))).toEqual([]);
  });

  it('file or folder', () => {
    const roots = 'shared|functions|forwarder|infra|runtime|simulator|cli|packages|deploy|test|bench|examples|docs';
    expect(
      unknown(new RegExp(`^(${roots})/[\\w./*-]+$`), name =>
        name.includes('*') ? globSync(name, { cwd: ROOT }).length > 0 : existsSync(join(ROOT, name)),
      ),
    ).toEqual([]);
  });
});

describe('a name in a decision exists', () => {
  const names = DECISIONS.flatMap(document => inlineCode(document).map(name => ({ file: document.file, name })));
  const missing = (looksLike: RegExp, isThere: (name: string) => boolean): readonly string[] => {
    const found = names.filter(({ name }) => looksLike.test(name));
    expect(found.length).toBeGreaterThan(10);
    return found.filter(({ name }) => !isThere(name)).map(({ file, name }) => `${file}: ${name}`);
  };

  it('file or folder, from the root', () => {
    const OF_GO = 'text/template';
    expect(missing(/^[\w-]+\/[\w./*-]+$/, name => name === OF_GO || globSync(name, { cwd: ROOT }).length > 0)).toEqual(
      [],
    );
  });

  it('field, function or kind of a union', () => {
    expect(missing(/^[a-z]+([A-Z][a-z]*)+$/, name => words.has(name))).toEqual([]);
  });
});

describe('a command in a document exists', () => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
  const all = DOCUMENTS.flatMap(document => commands(document).map(command => ({ file: document.file, command })));

  it('script of npm', () => {
    const scriptsNamed = all.flatMap(({ file, command }) =>
      [...command.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, script]) => ({ file, script: script ?? '' })),
    );
    expect(scriptsNamed.length).toBeGreaterThan(5);
    expect(scriptsNamed.filter(({ script }) => !(script in scripts))).toEqual([]);
  });

  it('of curfew in one spelling: npx curfew', () => {
    expect(all.filter(({ command }) => /^npm run (--silent )?(curfew|simulate)\b/.test(command))).toEqual([]);
  });

  it('subcommand and options of curfew', () => {
    const calls = all.flatMap(({ file, command }) => {
      const call = /^(?:npx )?curfew (\w.*)/.exec(command)?.[1];
      if (call !== undefined) return [{ file, call }];
      const script = /^npm (?:run (?:--silent )?)?(start|simulate:swarm) -- (.*)/.exec(command);
      return script === null
        ? []
        : [{ file, call: `${script[1] === 'simulate:swarm' ? 'swarm' : script[1]} ${script[2]}` }];
    });
    expect(calls.length).toBeGreaterThan(10);
    const options = new Set(COMMAND_DEFINITIONS.match(/--[a-z][a-z-]*/g));
    const wrong = calls.filter(
      ({ call }) =>
        !COMMAND_DEFINITIONS.includes(`command('${call.split(' ')[0]}')`) ||
        (call.match(/--[a-z][a-z-]*/g) ?? []).some(option => !options.has(option)),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a comment in the code', () => {
  const lines = globSync(
    '{shared,functions,forwarder,infra,runtime,simulator,cli,packages,deploy,examples,bench,test}/**/*.{ts,yaml}',
    {
      cwd: ROOT,
      exclude: ['**/node_modules/**', 'test/fixtures/**', 'packages/*/test/fixtures/**'],
    },
  ).flatMap(file =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .map(line => ({ file, line }))
      .filter(({ line }) => /^\s*(\/\/|\/?\*|#)/.test(line)),
  );

  it('cites no section of a document that is not in the repository', () => {
    expect(
      lines.filter(({ line }) => /\b(DESIGN|[Rr]eference(,| on \w+,?|:)?) §|\bDESIGN [§I]|^(?!.*RFC).* §\d/.test(line)),
    ).toEqual([]);
  });

  it('cites documents and decisions that are there', () => {
    const missing = lines.flatMap(({ file, line }) => [
      ...(line.match(/\bdocs\/[\w/-]+\.md\b/g) ?? [])
        .filter(path => !existsSync(join(ROOT, path)))
        .map(path => `${file}: ${path}`),
      ...[...line.matchAll(/\bADRs? (\d{4})/g)]
        .filter(([, number]) => globSync(`docs/adr/${number}-*.md`, { cwd: ROOT }).length === 0)
        .map(([text]) => `${file}: ${text}`),
    ]);
    expect(lines.length).toBeGreaterThan(1000);
    expect(missing).toEqual([]);
  });
});
