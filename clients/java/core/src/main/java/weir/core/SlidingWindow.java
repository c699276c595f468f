package weir.core;

import java.util.ArrayDeque;
import java.util.Deque;

/** Counts in slots of a twentieth of the period, each kept until its last instant has left the window. */
final class SlidingWindow implements Local {
  private static final int SLOTS = 20;

  private record Slot(long number, double used, double here) {}

  private final Spec spec;
  private final double slotMs;
  private final Deque<Slot> slots = new ArrayDeque<>();

  SlidingWindow(Spec spec) {
    this.spec = spec;
    this.slotMs = spec.periodMs() / SLOTS;
  }

  private double roll(double now) {
    while (!slots.isEmpty() && over(slots.peekFirst()) <= now + EPSILON) {
      slots.pollFirst();
    }
    return slots.stream().mapToDouble(Slot::used).sum();
  }

  private double over(Slot slot) {
    return (slot.number + 1) * slotMs + spec.periodMs();
  }

  private double resetMs(double now) {
    return slots.isEmpty() ? 0 : over(slots.peekLast()) - now;
  }

  private double waitMs(double now, double permits) {
    double missing = permits;
    for (Slot slot : slots) {
      missing -= slot.used;
      if (missing <= EPSILON) {
        return over(slot) - now;
      }
    }
    return View.NEVER;
  }

  @Override
  public View view(double share, double now, double cost) {
    double used = roll(now);
    double capacity = spec.capacity() * share;
    if (cost <= 0 || used + cost <= capacity + EPSILON) {
      double reset = cost > 0 ? spec.periodMs() : resetMs(now);
      return new View(true, Local.whole(capacity), Local.whole(capacity - used - cost), 0, reset);
    }
    double retry = cost <= capacity + EPSILON ? waitMs(now, used + cost - capacity) : View.NEVER;
    return new View(false, Local.whole(capacity), Local.whole(capacity - used), retry, resetMs(now));
  }

  @Override
  public void charge(double share, double now, double cost, boolean here) {
    roll(now);
    long number = (long) Math.floor(now / slotMs);
    double mine = here ? cost : 0;
    Slot last = slots.peekLast();
    if (last != null && last.number >= number) {
      slots.pollLast();
      slots.addLast(new Slot(last.number, last.used + cost, last.here + mine));
    } else if (cost > 0) {
      slots.addLast(new Slot(number, cost, mine));
    }
  }

  @Override
  public void giveBack(double share, double now, double cost) {
    roll(now);
    double left = cost;
    while (!slots.isEmpty() && left > EPSILON) {
      Slot last = slots.pollLast();
      double back = Math.min(last.used, left);
      left -= back;
      if (last.used - back > EPSILON) {
        slots.addLast(new Slot(last.number, last.used - back, Math.max(0, last.here - back)));
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
    roll(now);
    return Local.whole(slots.stream().mapToDouble(Slot::here).sum());
  }
}
