// A site of each framework, limited as the README has it: make(options) answers get(path, headers) and close().
import http from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

async function visitor(port) {
  return (path, headers = {}) => new Promise((resolve, reject) => {
    http.get({ port, host: '127.0.0.1', path, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (data) => { body += data; });
      response.on('end', () => resolve({ status: response.statusCode, fields: response.headers, body }));
    }).on('error', reject);
  });
}

function listening(server) {
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server.address().port)); });
}

export const kSites = {
  async express(options) {
    const { default: express } = await import('express');
    const { rateLimit } = await import('weir-client/express');
    const app = express();
    app.use((request, _, next) => { request.user = request.headers['x-user'] && { id: 7 }; next(); });
    const limit = rateLimit(options);
    app.use(limit);
    app.use('/within', express.Router().get('/:page', (_, response) => response.send('hello')));
    app.get('/{:page}', (_, response) => response.send('hello'));
    const server = http.createServer(app);
    const get = await visitor(await listening(server));
    return { get, close: () => { server.close(); limit.close(); } };
  },

  async fastify(options) {
    const { default: fastify } = await import('fastify');
    const { rateLimit } = await import('weir-client/fastify');
    const app = fastify();
    app.addHook('onRequest', async (request) => { request.user = request.headers['x-user'] && { id: 7 }; });
    await app.register(rateLimit, options);
    app.get('/*', async () => 'hello');
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { get: await visitor(app.server.address().port), close: () => app.close() };
  },

  async hono(options) {
    const { Hono } = await import('hono');
    const { serve } = await import('@hono/node-server');
    const { rateLimit } = await import('weir-client/hono');
    const app = new Hono();
    app.use(async (context, next) => {
      context.set('user', context.req.header('x-user') && { id: 7 });
      await next();
    });
    const limit = rateLimit(options);
    app.use(limit);
    app.get('/*', (context) => context.text('hello'));
    const server = await new Promise((resolve) => {
      const made = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(made));
    });
    return { get: await visitor(server.address().port), close: () => { server.close(); limit.close(); } };
  },

  async nest(options) {
    require('reflect-metadata');
    const { Controller, Get, Module } = require('@nestjs/common');
    const { NestFactory } = require('@nestjs/core');
    const { ProblemFilter, WeirGuard } = await import('weir-client/nest');
    class Pages { hello() { return 'hello'; } }
    Get('/{*page}')(Pages.prototype, 'hello', Object.getOwnPropertyDescriptor(Pages.prototype, 'hello'));
    Controller()(Pages);
    class App {}
    Module({ controllers: [Pages] })(App);
    const app = await NestFactory.create(App, { logger: false });
    app.use((request, _, next) => { request.user = request.headers['x-user'] && { id: 7 }; next(); });
    const guard = new WeirGuard(options);
    app.useGlobalGuards(guard);
    app.useGlobalFilters(new ProblemFilter());
    await app.listen(0, '127.0.0.1');
    return { get: await visitor(app.getHttpServer().address().port),
      close: async () => { await app.close(); guard.onApplicationShutdown(); } };
  },
};
