package weir.core;

/**
 * A process' own state of one limit. It is charged with what weir granted to this process, and decides while weir is
 * away. {@code share} is the part of the limit that this process may hand out, 0 to 1; instants and durations are
 * milliseconds.
 */
interface Local {
  double EPSILON = 1e-9;

  View view(double share, double now, double cost);

  /** Takes without asking: what weir granted, or (here) what was granted by this process. */
  void charge(double share, double now, double cost, boolean here);

  void giveBack(double share, double now, double cost);

  /** From this instant on it is as if all had just been used. */
  void drain(double share, double now);

  /** What weir has to be charged with after the return. */
  long owed(double share, double now);

  /** weir said when the limit is full again. */
  default void told(double now, double resetMs) {}

  static long whole(double permits) {
    return (long) Math.floor(permits + EPSILON);
  }

  /** A state of which nothing is used. */
  static Local make(Spec spec, double share, double now) {
    return switch (spec.kind()) {
      case BUCKET, INTERVAL -> new Bucket(spec, share, now);
      case FIXED -> new FixedWindow(spec, now);
      case SLIDING -> new SlidingWindow(spec);
      case LEASES -> new Leases(spec);
    };
  }
}
