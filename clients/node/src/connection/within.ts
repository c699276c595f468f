import { Late } from '../errors.js';

export interface Bounds {
  /** The instant of performance.now() by which all is over. */
  readonly end: number;
  readonly signal?: AbortSignal | undefined;
  /** What is thrown at the end; a Late where it is left out. */
  readonly late?: (() => Error) | undefined;
}

/**
 * The promise's outcome, or a Late at the end, or the signal's reason. Where the process itself was busy until the end,
 * what the system has received meanwhile is read first.
 */
export function within<T>(promise: Promise<T>, { end, signal, late = () => new Late() }: Bounds): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let looks = 0;
    const onEnd = () => {
      looks += 1;
      if (looks > kLooks) return settle(() => reject(late()));
      timer = undefined;
      setImmediate(() => { if (!isOver) onEnd(); });
    };
    let isOver = false;
    let timer: NodeJS.Timeout | undefined = setTimeout(onEnd, Math.max(0, end - performance.now()));
    const onAbort = () => settle(() => reject(signal!.reason));
    const settle = (done: () => void) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      done();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    promise.then((value) => settle(() => resolve(value)), (error) => settle(() => reject(error)));
    if (signal?.aborted) onAbort();
  });
}

const kLooks = 2; // a timer's turn comes before that of what was received
