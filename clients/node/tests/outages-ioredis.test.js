import { outages } from './support/outages.js';

outages('ioredis');
