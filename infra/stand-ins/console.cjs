/** `node:console`, as `http.cjs`: an `import` of it opens the standard streams. */
'use strict';
module.exports = process.getBuiltinModule('node:console');
