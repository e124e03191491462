/** Tests must run on the Node that package.json pins; without it (an unusual platform) any Node from 24 on will do. */
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `Curfew needs Node 24 or later, this is ${process.version}. "npm ci" installs it on Linux x64 and arm64; elsewhere install Node 24 yourself.\n`,
  );
  process.exit(2);
}
