import fastify from 'fastify';
import { rateLimit } from 'weir-client/fastify';

const app = fastify();
await app.register(rateLimit, { weir: 'redis://127.0.0.1:36787', limits: 'FIXED 2/1h', processes: 4 });

export { app };
