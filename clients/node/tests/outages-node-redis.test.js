import { outages } from './support/outages.js';

outages('redis');
