/** `node:process`, as `http.cjs`: an `import` of it opens the standard streams, 4 ms. */
'use strict';
module.exports = process;
