package weir;

import java.time.Duration;

/** How long a call may take, and how often it is tried meanwhile. */
record Options(long deadlineNs, int attempts) {
  static Options of(Duration deadline, int retries) {
    if (deadline.isNegative() || deadline.isZero() || retries < 0) {
      throw new IllegalArgumentException("deadline must be above 0, retries not below");
    }
    return new Options(deadline.toNanos(), retries + 1);
  }
}
