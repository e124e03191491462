/** The Node that the sources run on, for what starts before it is known which one runs. JavaScript, since older ones read nothing else. */

export const NEEDED_MAJOR = 24;

export const isNodeRecent = Number(process.versions.node.split('.')[0]) >= NEEDED_MAJOR;

export const NODE_NEEDED = `Curfew needs Node ${NEEDED_MAJOR} or later, this is ${process.version}. "npm ci --include=optional" installs it on Linux x64 and arm64; elsewhere install Node ${NEEDED_MAJOR} yourself.\n`;
