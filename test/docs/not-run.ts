/** Commands of the documents that no test of this folder runs, and why. */

/** Of the guides on `npm start -- --serve`. */
export const NOT_RUN_ON_SERVE: readonly (readonly [RegExp, string])[] = [
  [/^npm ci$|^npm start\b/, 'installs, or is what the guides run on'],
  [/^aws events put-events /, 'needs the command line of AWS: the line above it sends the same'],
];
export const isRunOnServe = (command: string): boolean => !NOT_RUN_ON_SERVE.some(([pattern]) => pattern.test(command));

/** Of all other documents. */
export const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [
    /^npm (ci|test)\b|^npm run (check|lint:prose|bench|test:control-plane|test:slurm|test:moto|test:aws|test:browser|pictures|measure:page)\b|^bash \.ci\/run$/,
    'installs, or is the gate itself',
  ],
  [/^(npm ci && )?npm start\b/, 'half a minute: test/cli/start.test.ts, test/control-plane/managed-database.test.ts'],
  [/^npx node examples\/managed-database\//, 'needs its PostgreSQL: test/control-plane/managed-database.test.ts'],
  [/^node test\/stored-items\/|^npx vitest run /, 'writes what is frozen, or runs the tests themselves'],
  [/^curfew simulate FILE\b/, 'names a file of the reader: test/cli/simulate.test.ts'],
  [/^jq .* day\.jsonl$/, 'needs a trace of the reader: test/simulator/trace'],
  [/^npx curfew simulate examples\/.*\*/, 'half a minute: test/examples runs every scenario'],
  [/^npm run simulate:swarm\b|^npx curfew swarm\b/, 'minutes: test/simulator/swarm'],
  [/^npx curfew search\b/, 'minutes: test/cli/search.test.ts'],
  [/^npm run mutation\b/, 'minutes, and needs what only it uses'],
  [/^npm run mutants\b/, 'an hour: test/simulator/mutants.test.ts has each with its known seed'],
  [/^npm run (--silent )?explore\b/, 'half a minute: test/simulator/explorer'],
  [
    /^npm run (simulate|generate)$|^npx curfew …|^npx curfew$|\[--|^go mod tidy$|gotemplate:vectors/,
    'names a command, or its syntax',
  ],
  [/^(npx cdk|cdk) /, 'needs an AWS account, or half a minute: test/infra synthesizes'],
  [/^npm run synth$/, 'half a minute: packages/local-aws/test/own-app.test.ts'],
  [/curfew (-- )?doctor\b/, 'needs a whole installation: test/cli/doctor.test.ts'],
  [/curfew (-- )?event send\b/, 'needs a bus: test/cli/event.test.ts'],
  [/curfew (-- )?orphans\b/, 'needs the table of records: test/cli/operate/orphans.test.ts'],
  [
    /^(for \w+ in [\w ]+; do )?aws |^simulate\b|^[A-Z_]+=/,
    'needs an AWS account: test/moto/commands.test.ts has each on moto, or lets the command line of AWS parse it',
  ],
  [/^for f in clusters\/|--stack NAME$/, 'needs an AWS account'],
  [/^docker |^crane /, 'needs Docker, or a registry'],
  [/^npm (ci && npm )?run release\b|curfew-(cli|cdk)-|^sha256sum /, 'minutes: test/release, and a step of .ci/run'],
  [/^npm (version|sbom)\b/, 'names a command, or changes the repository'],
  [/^npx curfew compare .* --html /, 'half a minute: test/browser, and a guide runs it without the page'],
  [/curfew (-- )?audit\b/, 'needs a deployment: test/cli/audit-of-deployment.test.ts, and a guide on its own cluster'],
  [/^npx node examples\/[\w-]+\/\w+\/main\.ts/, 'runs until it is ended'],
  [
    /^(npx )?curfew (…|explain( node)?$|validate$|drain NODE$|uninstall$|redrive$)/,
    'names a command; its full form is run',
  ],
  [/^curfew explain node NAME --at T$/, 'needs a scenario: test/cli/explain'],
  [/^kubectl (apply|create|drain|auth|describe node|describe nodepool|-l)$/, 'names a command'],
  [/^curfew drain NODE --cancel$/, 'needs a drain under way: test/cli/drain.test.ts'],
  [/^helm /, 'needs Helm: test/control-plane/helm'],
  [
    /^kubectl delete (-k deploy\/|-f deploy\/crds )/,
    'the commands after it need what it deletes: test/control-plane/install.test.ts, test/control-plane/helm',
  ],
  [/uninstall --definitions$/, 'the commands after it need what it deletes: test/cli/uninstall.test.ts'],
  [/^kubectl apply -f -$/, 'takes what another command prints'],
  [
    /^kubectl (apply|get|wait|delete|describe) .*(manageddatabase|orders\.yaml)/,
    'needs the running example: test/control-plane/managed-database.test.ts',
  ],
  [/^kubectl (describe|get pods)$/, 'names a command'],
  [
    /^kubectl -n curfew (logs|rollout|scale) |^kubectl -n default run /,
    'needs the pods of the forwarder: docs/sandbox.md in test/control-plane/doctor.test.ts',
  ],
];
export const reasonNotToRun = (command: string): string | undefined =>
  NOT_RUN.find(([pattern]) => pattern.test(command))?.[1];
