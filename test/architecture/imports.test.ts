import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { imports, isRecordType, root, sources, type Import } from './sources.ts';

/** All imports of the files that match `from` go to a place that `allowed` names. */
function violations(from: RegExp, allowed: readonly RegExp[]): readonly string[] {
  return imports
    .filter(edge => from.test(edge.from) && !allowed.some(place => place.test(edge.to)))
    .map(edge => `${edge.from} → ${edge.to}`);
}

const node = /^node:/;
const domain = /^shared\/domain\//;
const contract = /^shared\/contract\//;
const ports = /^shared\/ports\//;
const errors = /^shared\/errors\.ts$/;
/** What several concerns share: the kernel, and live reads on ports. */
const common = /^shared\/(lifecycle|policies|cluster|custom-resource|pods)\//;

/** A file of a concern's folder, or of a folder below it, and all files there that it reaches. */
function ownFiles(file: string): readonly string[] {
  const folder = `${dirname(file)}/`;
  const reached = new Set([file]);
  for (const from of reached) {
    for (const { to } of imports.filter(
      edge => edge.from === from && edge.to.startsWith(folder) && !isRecordType(edge),
    ))
      reached.add(to);
  }
  return [...reached];
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What a file imports that is there when the program runs, whatever is between. */
function valuesReachedBy(file: string): readonly string[] {
  const reached = new Set([file]);
  for (const from of reached) {
    for (const { to } of imports.filter(edge => edge.from === from && !edge.isType)) reached.add(to);
  }
  return [...reached];
}

const rules = sources.filter(file => /^(functions|examples)\/.*\/decide\.ts$/.test(file));
/** Where a rule has many files, the others have a folder. */
const concernsWithFolder = rules.map(dirname).filter(concern => filesOfRule(concern).length > 0);
function filesOfRule(concern: string): readonly string[] {
  return sources.filter(file => file.startsWith(`${concern}/rule/`));
}
/** What a record keeps after an act: the shell alone asks it. */
const recordChanges = sources.filter(file => /^functions\/.*\/record-changes\//.test(file));
/** Files that say so in their first comment. */
const pureFiles = sources.filter(file => file.startsWith('functions/') && /^\/\*\*[^/]*\bPure\b/.test(textOf(file)));
const ruleFiles = [...new Set([...rules, ...concernsWithFolder.flatMap(filesOfRule)].flatMap(ownFiles))];

describe('import direction', () => {
  it('finds the sources', () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(imports.length).toBeGreaterThan(100);
  });

  it('decide and the files of its folder rule import the domain only', () => {
    expect(rules.length).toBeGreaterThanOrEqual(3);
    const allowed = (edge: Import): boolean =>
      isRecordType(edge) || domain.test(edge.to) || ruleFiles.includes(edge.to);
    const others = imports.filter(edge => ruleFiles.includes(edge.from) && !allowed(edge));
    expect(others.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it.each(concernsWithFolder)('the rule of %s is decide.ts and its folder rule', concern => {
    // A part of it may decide on a smaller subject: the rule of a pool asks that of its nodes.
    const parts = concernsWithFolder.filter(part => part.startsWith(`${concern}/`));
    const own = [concern, ...parts].flatMap(each => [`${each}/decide.ts`, ...filesOfRule(each)]);
    const reached = own.flatMap(ownFiles).filter(file => !/[/-]record\.ts$/.test(file));
    expect([...new Set(reached)].toSorted()).toEqual(own.toSorted());
  });

  it('the files of a folder record-changes are pure, and import the rule beside it and the domain only', () => {
    expect(recordChanges.length).toBeGreaterThan(2);
    expect(recordChanges.filter(file => !pureFiles.includes(file))).toEqual([]);
    const allowed = (edge: Import): boolean =>
      isRecordType(edge) || domain.test(edge.to) || ruleFiles.includes(edge.to);
    const others = imports.filter(edge => recordChanges.includes(edge.from) && !allowed(edge));
    expect(others.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it('a name of a concern has one door, the file that defines it; for others that is explain.ts', () => {
    const concerns = sources.filter(file => file.startsWith('functions/') && !file.endsWith('/explain.ts'));
    expect(concerns.length).toBeGreaterThan(100);
    expect(concerns.filter(file => /^export [^;=]* from '/m.test(textOf(file)))).toEqual([]);
  });

  it('a file of a concern that is said to be pure reaches nothing that reads, writes or waits', () => {
    expect(pureFiles.length).toBeGreaterThan(20);
    const effects = /^shared\/(adapters|cluster|custom-resource|lambda|lifecycle|pods|ports)\//;
    const reached = pureFiles.map(file => [file, ...valuesReachedBy(file).filter(to => effects.test(to))]);
    expect(reached.filter(([, ...to]) => to.length > 0)).toEqual([]);
  });

  it('a concern imports ports, domain, contract, the kernel and its own folder, but for its wiring', () => {
    const concern = /^functions\/([^/]+)\/(?!handler\.ts|aws-[^/]+\.ts)/;
    const own = /^functions\/[^/]+\//;
    expect(violations(concern, [node, domain, contract, ports, errors, common, own])).toEqual([]);
  });

  it('handler is wiring: its own router, the Lambda wrapper, and ports that it alone has', () => {
    const own = /^functions\/[^/]+\/(route|aws-[^/]+)\.ts$/;
    expect(violations(/^functions\/[^/]+\/handler\.ts$/, [/^shared\/lambda\//, own])).toEqual([]);
    const users = imports.filter(({ to }) => /^functions\/[^/]+\/aws-[^/]+\.ts$/.test(to)).map(({ from }) => from);
    expect(users.every(file => file.endsWith('/handler.ts'))).toBe(true);
  });

  it('functions never import each other', () => {
    const nameOf = (path: string): string | undefined => /^functions\/([^/]+)\//.exec(path)?.[1];
    const across = imports.filter(
      edge => nameOf(edge.from) !== undefined && nameOf(edge.to) !== undefined && nameOf(edge.from) !== nameOf(edge.to),
    );
    expect(across.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it('contract imports domain and errors; the kernel imports ports, domain and contract', () => {
    expect(
      violations(contract, [
        domain,
        contract,
        errors,
        /^[^.]*zod/,
        /^node:/,
        /^smol-toml$/,
        /^re2js$/,
        /^croner$/,
        /^toml-eslint-parser$/,
      ]),
    ).toEqual([]);
    expect(violations(/^shared\/lifecycle\//, [node, domain, contract, ports, errors, /^shared\/lifecycle\//])).toEqual(
      [],
    );
  });

  it('the domain imports nothing but itself', () => {
    expect(violations(/^shared\/domain\//, [domain])).toEqual([]);
  });

  it('ports import domain, contract and errors', () => {
    expect(violations(/^shared\/ports\//, [domain, contract, ports, errors])).toEqual([]);
  });

  it('the forwarder knows nothing of functions and of DynamoDB', () => {
    const forbidden = imports.filter(
      edge => edge.from.startsWith('forwarder/') && /^functions\/|dynamodb/.test(edge.to),
    );
    expect(forbidden).toEqual([]);
  });

  it('constructs and infra share only names with the runtime code', () => {
    const runtime = imports.filter(
      edge =>
        /^(infra|packages\/curfew-cdk)\//.test(edge.from) &&
        !edge.to.startsWith('packages/curfew-cdk/') &&
        /^(functions|shared|forwarder|runtime|simulator|packages|cli|deploy|examples|bench|test)\//.test(edge.to) &&
        !contract.test(edge.to),
    );
    expect(runtime).toEqual([]);
  });

  it('constructs know nothing of the app, nor of what bundles', () => {
    const own = [contract, /^packages\/curfew-cdk\//, node, /^aws-cdk-lib(\/|$)/, /^constructs$/];
    expect(violations(/^packages\/curfew-cdk\/src\//, own)).toEqual([]);
  });

  it('functions and shared code never import the local stack, the command line or infra', () => {
    const upward = imports.filter(
      edge =>
        /^(functions|shared|forwarder)\//.test(edge.from) &&
        /^(runtime|simulator|packages\/(kube-apiserver|local-aws|curfew-cdk)|cli|infra|deploy|test|release)\//.test(
          edge.to,
        ),
    );
    expect(upward).toEqual([]);
  });

  it('nothing imports what makes a release', () => {
    expect(imports.filter(({ from, to }) => to.startsWith('release/') && !from.startsWith('release/'))).toEqual([]);
  });

  it('shared code and the forwarder never import a function', () => {
    const upward = imports.filter(edge => /^(shared|forwarder)\//.test(edge.from) && edge.to.startsWith('functions/'));
    expect(upward.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it('the runtime and the simulator know nothing of the command line, of infra and of the local AWS', () => {
    const upward = imports.filter(
      edge => /^(runtime|simulator)\//.test(edge.from) && /^(cli|infra|packages\/local-aws)\//.test(edge.to),
    );
    expect(upward.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it('deploy is made of the contract alone, and packages know nothing of functions, runtime and simulator', () => {
    const text = /^yaml$/;
    expect(violations(/^deploy\//, [node, contract, /^deploy\//, text])).toEqual([]);
    const upward = imports.filter(
      edge => edge.from.startsWith('packages/') && /^(functions|forwarder|runtime|simulator|cli)\//.test(edge.to),
    );
    expect(upward.filter(edge => !edge.from.includes('/test/')).map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });

  it('the embedded API server knows nothing of Curfew', () => {
    const own = [/^packages\/kube-apiserver\//, /^[^.]/];
    const curfew = violations(/^packages\/kube-apiserver\/src\//, own).concat(
      imports
        .filter(edge => edge.from.startsWith('packages/kube-apiserver/src/'))
        .filter(edge => /^(shared|functions|forwarder|runtime|simulator|infra|cli|test)\//.test(edge.to))
        .map(edge => `${edge.from} → ${edge.to}`),
    );
    expect(curfew).toEqual([]);
  });

  it('the template package imports nothing but itself, not even Node', () => {
    expect(violations(/^packages\/gotemplate\/src\//, [/^packages\/gotemplate\/src\//])).toEqual([]);
  });

  it('the command line and the simulator read of a concern its explain.ts alone', () => {
    const read = imports.filter(({ from, to }) => /^(cli|simulator)\//.test(from) && to.startsWith('functions/'));
    expect(read.length).toBeGreaterThan(10);
    const past = read.filter(({ to }) => !/^functions\/[^/]+\/explain\.ts$/.test(to));
    expect(past.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
    const inside = imports.filter(({ from, to }) => from.startsWith('functions/') && to.endsWith('/explain.ts'));
    expect(inside).toEqual([]);
  });

  it('the command line imports neither tests nor benchmarks', () => {
    const forbidden = imports.filter(
      edge => /^(cli|runtime|simulator)\//.test(edge.from) && /^(test|bench)\//.test(edge.to),
    );
    expect(forbidden.map(edge => `${edge.from} → ${edge.to}`)).toEqual([]);
  });
});

describe('paths', () => {
  it('of files are made by Node: a folder may have a space in its name', () => {
    const files = [...sources, ...globSync('{test,packages/*/test}/**/*.ts', { cwd: root })];
    const byHand = files.filter(file => /import\.meta\.url\)\.pathname/.test(readFileSync(join(root, file), 'utf8')));
    expect(byHand).toEqual([]);
  });
});

describe('sends to SQS', () => {
  it('name the group of the message, by which queues are fair', () => {
    const senders = sources.filter(file => /^(functions|shared|forwarder|cli|runtime)\//.test(file));
    const text = (file: string): string => readFileSync(join(root, file), 'utf8');
    const sending = senders.filter(file => /new SendMessage(Batch)?Command\(/.test(text(file)));
    expect(sending.length).toBeGreaterThan(3);
    expect(sending.filter(file => !text(file).includes('MessageGroupId'))).toEqual([]);
  });
});

describe('rules have no clock, no chance and no environment of their own', () => {
  it.each([
    ...new Set([...ruleFiles, ...pureFiles]),
    ...sources.filter(file => /^shared\/(domain|contract|lifecycle|policies|cluster|pods)\//.test(file)),
  ])('%s', file => {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const reads = text.match(
      /Date\.now|new Date\(\)|performance\.now|Math\.random|process\.env|setTimeout|setInterval|setImmediate/g,
    );
    expect(reads).toBeNull();
  });
});
