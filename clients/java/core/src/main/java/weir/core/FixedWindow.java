package weir.core;

/** A window whose end is weir's where weir told it. */
final class FixedWindow implements Local {
  private final Spec spec;
  private double used;
  private double usedHere;
  private double end; // in the past: the next use begins a window

  FixedWindow(Spec spec, double now) {
    this.spec = spec;
    this.end = now;
  }

  private void roll(double now) {
    if (now >= end) {
      used = 0;
      usedHere = 0;
    }
  }

  private void begin(double now) {
    roll(now);
    if (now >= end) {
      end = now + spec.periodMs();
    }
  }

  @Override
  public View view(double share, double now, double cost) {
    roll(now);
    double capacity = spec.capacity() * share;
    double rest = now < end ? end - now : 0;
    if (cost <= 0 || used + cost <= capacity + EPSILON) {
      double reset = rest == 0 && cost > 0 ? spec.periodMs() : rest;
      return new View(true, Local.whole(capacity), Local.whole(capacity - used - cost), 0, reset);
    }
    double retry = cost <= capacity + EPSILON ? rest : View.NEVER;
    return new View(false, Local.whole(capacity), Local.whole(capacity - used), retry, rest);
  }

  @Override
  public void charge(double share, double now, double cost, boolean here) {
    if (cost > 0) {
      begin(now);
      used += cost;
      usedHere += here ? cost : 0;
    }
  }

  @Override
  public void giveBack(double share, double now, double cost) {
    roll(now);
    used = Math.max(0, used - cost);
    usedHere = Math.max(0, usedHere - cost);
  }

  @Override
  public void drain(double share, double now) {
    begin(now);
    used = Math.max(used, spec.capacity() * share);
  }

  @Override
  public long owed(double share, double now) {
    roll(now);
    return Local.whole(usedHere);
  }

  @Override
  public void told(double now, double resetMs) {
    if (resetMs > 0 && used > 0) {
      end = now + resetMs;
    }
  }
}
