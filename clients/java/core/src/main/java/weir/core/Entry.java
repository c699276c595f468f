package weir.core;

import java.util.ArrayList;
import java.util.List;

/** A key: its own state of every limit. */
final class Entry {
  final List<Spec> specs;
  private final List<Local> states = new ArrayList<>();
  boolean grantedHere;
  boolean unknown; // it was first decided here, and nothing was granted: what weir answers begins it anew
  int drainedIn; // the absence in which it was drained, of mode strict
  HandBack handBack; // fixed, so that it may be sent again
  boolean blocked; // the policy lets nobody through
  double bannedUntil = Double.NEGATIVE_INFINITY;

  Entry(List<Spec> specs, double share, double now) {
    this.specs = specs;
    specs.forEach(spec -> states.add(Local.make(spec, share, now)));
  }

  /** Charges nothing. */
  Decision decide(double share, double now, Cost cost) {
    if (blocked) {
      return Decision.without(false);
    }
    List<View> views = new ArrayList<>(states.size());
    for (int index = 0; index < states.size(); index++) {
      views.add(states.get(index).view(share, now, cost.of(index)));
    }
    Decision decision = Decision.of(views, specs);
    double rest = bannedUntil - now;
    boolean isBanned = rest > 0 && !cost.isNothing()
        && decision.deciding().filter(view -> view.allowed() || view.waitMs() < rest).isPresent();
    return isBanned ? decision.denied(decision.index(), rest) : decision;
  }

  /**
   * weir books of buckets alone: the first limit that is none denies for ever. Nor does it book of a key that is banned.
   * Null if all take bookings.
   */
  Decision refusedBooking(double share, double now, Cost cost) {
    if (blocked) {
      return null;
    }
    Decision decision = decide(share, now, cost);
    for (int index = 0; index < specs.size(); index++) {
      if (specs.get(index).kind() != Spec.Kind.BUCKET) {
        return decision.denied(index, View.NEVER);
      }
    }
    return bannedUntil > now && !cost.isNothing() ? decision : null;
  }

  void charge(double share, double now, Cost cost, boolean here) {
    for (int index = 0; index < states.size(); index++) {
      states.get(index).charge(share, now, cost.of(index), here);
    }
    if (here) {
      grantedHere = true;
      unknown = false;
    }
  }

  void giveBack(double share, double now, long cost) {
    states.forEach(state -> state.giveBack(share, now, cost));
  }

  void drain(double share, double now) {
    states.forEach(state -> state.drain(share, now));
  }

  void told(double now, double[] resetsMs) {
    for (int index = 0; index < Math.min(resetsMs.length, states.size()); index++) {
      states.get(index).told(now, resetsMs[index]);
    }
  }

  /** Nothing if weir is owed nothing; there are no limits, or each is owed nothing. */
  Cost owed(double share, double now) {
    long[] owed = states.stream().mapToLong(state -> state.owed(share, now)).toArray();
    return owed.length == 0 ? new Cost(0) : new Cost(owed);
  }
}
