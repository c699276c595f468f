package weir.core;

/**
 * What a limit says to a cost: as the integers of RL.TAKE, times not rounded.
 *
 * @param allowed whether it grants
 * @param limit what it holds
 * @param remaining whole permits that are left, below 0 a debt
 * @param retryMs 0 when allowed, {@link #NEVER} if it can never be allowed
 * @param resetMs until it is full
 */
public record View(boolean allowed, long limit, long remaining, double retryMs, double resetMs) {
  /** A wait without end. */
  public static final double NEVER = -1;

  View denied(double waitsMs) {
    return new View(false, limit, remaining, waitsMs, resetMs);
  }

  /** The wait as a number that can be compared. */
  double waitMs() {
    return retryMs == NEVER ? Double.POSITIVE_INFINITY : retryMs;
  }
}
