package weir.core;

/**
 * One limit.
 *
 * @param kind how it counts
 * @param name its name in verdicts and fields
 * @param count permits that come in a period
 * @param periodMs milliseconds
 * @param capacity permits that are there at once, at most
 */
public record Spec(Kind kind, String name, double count, double periodMs, double capacity) {
  /** How a limit counts. */
  public enum Kind {
    /** GCRA, TOKENBUCKET, LEAKY, BURSTY, WARMUP. */
    BUCKET,
    /** TOKENBUCKET with REFILL INTERVAL: a bucket that takes no bookings. */
    INTERVAL,
    /** FIXED. */
    FIXED,
    /** SLIDINGLOG, SLIDINGWINDOW, SLIDINGCOUNTER. */
    SLIDING,
    /** CONCURRENCY. */
    LEASES
  }
}
