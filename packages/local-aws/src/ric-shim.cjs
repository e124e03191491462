/**
 * Preloaded before `aws-lambda-ric`, AWS's own runtime interface client for Node: stands in for its native half, which needs a C++ toolchain to
 * install and does nothing but speak HTTP to the Lambda Runtime API. Everything else of the client is the real one.
 */
'use strict';
/* oxlint-disable no-underscore-dangle -- Node has no other way to stand in for a module before it is loaded */
const http = require('node:http');
const Module = require('node:module');

const INVOCATION = '/2018-06-01/runtime/invocation';
/** What X-Ray takes of an error cause. */
const MAX_CAUSE_CHARS = 8000;

const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true });

function call(method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = http.request({
      hostname,
      port,
      agent,
      method,
      path: `${INVOCATION}/${path}`,
      headers: { 'content-type': 'application/json', ...length, ...headers },
    });
    request.on('response', response => {
      let bodyJson = '';
      response.setEncoding('utf8');
      response.on('data', chunk => (bodyJson += chunk));
      response.on('end', () => resolve({ bodyJson, headers: response.headers }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

// The client does not wait for its answers to be sent; the next invocation must not overtake them.
let answered = Promise.resolve();

const nativeClient = {
  initializeClient() {},
  next: () => answered.then(() => call('GET', 'next')),
  done(id, body) {
    answered = call('POST', `${id}/response`, body);
  },
  error(id, body, cause) {
    const headers = { 'lambda-runtime-function-xray-error-cause': cause.slice(0, MAX_CAUSE_CHARS) };
    answered = call('POST', `${id}/error`, body, headers);
  },
};

const load = Module._load;
Module._load = function loadWithShim(request, ...rest) {
  return request.endsWith('rapid-client.node') ? nativeClient : load.call(this, request, ...rest);
};
