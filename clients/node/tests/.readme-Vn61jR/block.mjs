const app = globalThis.nestApp;
import { ProblemFilter, WeirGuard } from 'weir-client/nest';

app.useGlobalGuards(new WeirGuard({ weir: 'redis://127.0.0.1:36787', limits: 'FIXED 2/1h', processes: 4 }));
app.useGlobalFilters(new ProblemFilter());

export {  };
