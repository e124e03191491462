/** What the pages about an installation say of the CDK, Docker and CloudFormation is so: none of it runs without an account. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../infra/config.ts';
import { synthesize } from '../infra/synthesized.ts';
import { blocks, commands, DOCUMENTS, inlineCode, ROOT } from './documents.ts';

const typed = [...new Set(DOCUMENTS.flatMap(document => [...commands(document), ...inlineCode(document)]))];
const { functionsTemplate, app } = synthesize({});

describe('commands of the CDK', () => {
  const calls = typed
    .flatMap(command => [...command.matchAll(/(?:^|\bdo |\bnpx )cdk (\w+)([^;&|]*)/g)])
    .map(([, name = '', rest = '']) => ({ name, rest }));
  const optionsOf = new Map<string, string>();
  const helpOf = (name: string): string => {
    const known =
      optionsOf.get(name) ??
      execFileSync(process.execPath, [join(ROOT, 'node_modules/aws-cdk/bin/cdk'), name, '--help'], {
        encoding: 'utf8',
      });
    optionsOf.set(name, known);
    return known;
  };

  it('are found', () => expect(new Set(calls.map(({ name }) => name)).size).toBeGreaterThan(4));

  it('have options that it has', () => {
    const unknown = calls.flatMap(({ name, rest }) =>
      [...rest.matchAll(/ (--?[a-z][\w-]*)/g)]
        .map(([, option = '']) => option)
        .filter(option => !new RegExp(`(^|[ ,])${option}\\b`, 'm').test(helpOf(name)))
        .map(option => `cdk ${name} ${option}`),
    );
    expect(unknown).toEqual([]);
  });

  it('name stacks that there are', () => {
    const stacks = app.node.children.map(({ node }) => node.id);
    const named = calls.flatMap(({ rest }) => [...rest.matchAll(/ ([A-Z]\w+)(?= |$)/g)].map(([, stack = '']) => stack));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(stack => !stacks.includes(stack))).toEqual([]);
  });
});

it('every context that they show is a valid one', () => {
  const shown = DOCUMENTS.flatMap(document => blocks(document).filter(({ language }) => language === 'json'))
    .map(({ lines }) => lines.join('\n'))
    .filter(text => text.includes('"curfew"'));
  expect(shown.length).toBeGreaterThan(1);
  for (const text of shown) {
    // What the reader fills in.
    const filledIn = text
      .replaceAll(/https:\/\/[^"]+/g, 'https://abc.eks.amazonaws.com')
      .replaceAll(/"(certificateAuthority)": "[^"]*"/g, '"$1": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="');
    expect(() => parseConfig(JSON.parse(filledIn).curfew)).not.toThrow();
  }
});

it('builds of the image name files and arguments that there are', () => {
  const builds = typed.filter(command => command.startsWith('docker build '));
  expect(builds.length).toBeGreaterThan(1);
  for (const build of builds) {
    const [, file = ''] = / -f (\S+)/.exec(build) ?? [];
    expect([build, existsSync(join(ROOT, file))]).toEqual([build, true]);
  }
  const dockerfile = readFileSync(join(ROOT, 'forwarder/Dockerfile'), 'utf8');
  const args = typed.flatMap(text => [...text.matchAll(/--build-arg (\w+)/g)].map(([, name = '']) => name));
  expect(args.filter(name => !dockerfile.includes(`ARG ${name}`))).toEqual([]);
});

it('every output that they name is one of the stack', () => {
  const outputs = Object.keys(functionsTemplate.findOutputs('*'));
  const named = DOCUMENTS.flatMap(({ text }) =>
    [...text.matchAll(/\boutputs? `([A-Z]\w+)`/g)].map(([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter(name => !outputs.includes(name))).toEqual([]);
});
