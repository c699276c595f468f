// What the programs share that try a limiter inside a web application: the application listens on a
// free port, and is asked over HTTP. Who asks is told by a header, as every caller has one address.
'use strict';

const { range } = require('./report');
const { kCallers } = require('./library');

// Answers ask(user, path) for an application at this address.
function visitor(address) {
  return async (user, path = '/') => {
    const response = await fetch(address + path, { headers: { 'x-user': user } });
    const headers = Object.fromEntries(response.headers);
    return { status: response.status, headers, body: await response.text() };
  };
}

// How often each status was answered to so many requests of 16 callers, and nothing else was.
async function crowd(ask, requests, user, path) {
  const statuses = (await Promise.all(range(kCallers).map(async () => {
    const mine = [];
    while (mine.length < requests / kCallers) mine.push((await ask(user, path)).status);
    return mine;
  }))).flat();
  return Object.fromEntries([...new Set(statuses)].sort()
    .map((status) => [status, statuses.filter((other) => other === status).length]));
}

// The status and these headers, as numbers where they are.
function seen(response, ...names) {
  return [response.status, ...names.map((name) => {
    const text = response.headers[name];
    return text === undefined || Number.isNaN(Number(text)) ? text : Number(text);
  })];
}

module.exports = { visitor, crowd, seen };
