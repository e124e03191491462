/**
 * `node:util` for the bundles: an `import` of it, and a look at all of its exports, loads worker threads, `parseArgs` and `diff`. Only what
 * is named here is there; for another name esbuild says that it is missing.
 */
export const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
