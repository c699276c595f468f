package weir.core;

import java.util.ArrayDeque;
import java.util.Deque;

/** Leases that this process holds; each ends when it is given back, or with the LEASE of the limit. */
final class Leases implements Local {
  private record Held(double end, double permits) {}

  private final Spec spec;
  private final Deque<Held> held = new ArrayDeque<>();

  Leases(Spec spec) {
    this.spec = spec;
  }

  private double roll(double now) {
    while (!held.isEmpty() && held.peekFirst().end <= now) {
      held.pollFirst();
    }
    return held.stream().mapToDouble(Held::permits).sum();
  }

  @Override
  public View view(double share, double now, double cost) {
    double used = roll(now);
    double capacity = spec.capacity() * share;
    double reset = held.isEmpty() ? 0 : held.peekLast().end - now;
    if (cost <= 0 || used + cost <= capacity + EPSILON) {
      return new View(true, Local.whole(capacity), Local.whole(capacity - used - cost), 0,
          cost > 0 ? spec.periodMs() : reset);
    }
    boolean comes = cost <= capacity + EPSILON && !held.isEmpty();
    return new View(false, Local.whole(capacity), Local.whole(capacity - used),
        comes ? held.peekFirst().end - now : View.NEVER, reset);
  }

  @Override
  public void charge(double share, double now, double cost, boolean here) {
    roll(now);
    if (cost > 0) {
      held.addLast(new Held(now + spec.periodMs(), cost));
    }
  }

  @Override
  public void giveBack(double share, double now, double cost) {
    roll(now);
    double left = cost;
    while (!held.isEmpty() && left > EPSILON) {
      Held first = held.pollFirst();
      double back = Math.min(first.permits, left);
      left -= back;
      if (first.permits - back > EPSILON) {
        held.addFirst(new Held(first.end, first.permits - back));
      }
    }
  }

  @Override
  public void drain(double share, double now) {
    double missing = spec.capacity() * share - roll(now);
    if (missing > 0) {
      charge(share, now, missing, false);
    }
  }

  @Override
  public long owed(double share, double now) {
    return 0;
  }
}
