package weir.core;

/** A token bucket of the share; it goes into debt down to the limit's capacity. */
final class Bucket implements Local {
  private final Spec spec;
  private double level;
  private double at;

  Bucket(Spec spec, double share, double now) {
    this.spec = spec;
    this.level = spec.capacity() * share;
    this.at = now;
  }

  private double refill(double share, double now) {
    double gained = Math.max(0, now - at) * spec.count() * share / spec.periodMs();
    level = Math.min(spec.capacity() * share, level + gained);
    at = Math.max(at, now);
    return level;
  }

  @Override
  public View view(double share, double now, double cost) {
    double before = refill(share, now);
    double capacity = spec.capacity() * share;
    double after = before - cost;
    boolean allowed = cost <= 0 || after >= -EPSILON;
    double msEach = spec.periodMs() / (spec.count() * share);
    double retry = allowed ? 0 : cost <= capacity + EPSILON ? -after * msEach : View.NEVER;
    double left = allowed ? after : before;
    return new View(allowed, Local.whole(capacity), Local.whole(left), retry, Math.max(0, capacity - left) * msEach);
  }

  @Override
  public void charge(double share, double now, double cost, boolean here) {
    level = Math.max(refill(share, now) - cost, -spec.capacity());
  }

  @Override
  public void giveBack(double share, double now, double cost) {
    level = Math.min(refill(share, now) + cost, spec.capacity() * share);
  }

  @Override
  public void drain(double share, double now) {
    level = Math.min(refill(share, now), 0);
  }

  // A part counts as a whole: each process' part that was left out would pass once more.
  @Override
  public long owed(double share, double now) {
    return (long) Math.ceil(spec.capacity() * share - refill(share, now) - EPSILON);
  }
}
