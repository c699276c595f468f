import express from 'express';
import { rateLimit } from 'weir-client/express';

const app = express();
app.use(rateLimit({ weir: 'redis://127.0.0.1:36787', limits: 'FIXED 2/1h', processes: 4 }));

export { app };
