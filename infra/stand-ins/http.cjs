/**
 * `node:http` for the bundles of the functions. An `import` of a built-in module reads each of its exports, and those of this one that
 * are made when they are read load undici: 25 ms of each cold start for what nobody uses. This way, nothing is read.
 */
'use strict';
module.exports = process.getBuiltinModule('node:http');
