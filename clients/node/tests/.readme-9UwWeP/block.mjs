import { Hono } from 'hono';
import { rateLimit } from 'weir-client/hono';

const app = new Hono();
app.use(rateLimit({ weir: 'redis://127.0.0.1:36787', limits: 'FIXED 2/1h', processes: 4 }));

export { app };
