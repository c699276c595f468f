package weir.core;

import java.util.List;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * What a limiter does next: ask weir, or decide here. A state machine of calls, answers and instants, without I/O and
 * without a clock: instants are milliseconds that callers hand in. Not safe for threads: its users lock.
 */
public final class Core {
  /** How many keys are kept where nothing else is said. */
  public static final int KEYS_MAX = 10_000;

  private final List<Spec> fixed;
  private final Away mode;
  private final Double processes;
  private final Breaker breaker;
  private final Mirror mirror;
  private List<Spec> seen; // of a policy: the limits that weir answered last
  private Boolean blocked; // whether the policy lets nobody through; null: weir has not told
  private double callers = 1;

  /**
   * A limiter of which nothing is used.
   *
   * @param specs its limits; null of a policy
   * @param mode what is decided while weir is away
   * @param processes among how many the limit is shared; null where it is not configured
   * @param keysMax how many keys are kept
   * @param jitter answers numbers from 0 to 1
   */
  public Core(List<Spec> specs, Away mode, Double processes, int keysMax, DoubleSupplier jitter) {
    this.fixed = specs;
    this.seen = specs;
    this.mode = mode;
    this.processes = processes;
    this.breaker = new Breaker(jitter);
    this.mirror = new Mirror(keysMax);
  }

  /**
   * Whether weir is away.
   *
   * @return the breaker
   */
  public Breaker breaker() {
    return breaker;
  }

  /**
   * What is decided while weir is away.
   *
   * @return the mode
   */
  public Away mode() {
    return mode;
  }

  /**
   * The limits, of a policy as weir answered them last.
   *
   * @return nothing if it has not
   */
  public Optional<List<Spec>> known() {
    return Optional.ofNullable(seen);
  }

  /**
   * The limits that were given; a policy has none.
   *
   * @return the limits, or null
   */
  public List<Spec> given() {
    return fixed;
  }

  /**
   * The part of the limit that this process hands out while weir is away.
   *
   * @return 0 to 1
   */
  public double share() {
    return 1 / Math.max(1, processes != null ? processes : callers);
  }

  /**
   * How many keys are kept.
   *
   * @return a count
   */
  public int keys() {
    return mirror.size();
  }

  /**
   * Of a policy: its limits until weir has told them.
   *
   * @param specs the limits
   */
  public void assume(List<Spec> specs) {
    seen = specs;
  }

  /**
   * How a call begins.
   *
   * @param key of the call
   * @param now milliseconds
   * @param newId makes the ID of a hand back
   * @return whether weir is asked, and what is handed back before
   */
  public Plan plan(String key, double now, Supplier<String> newId) {
    if (breaker.isAway()) {
      return new Plan(false, null);
    }
    Entry entry = mirror.find(key, fixed);
    if (entry == null || !entry.grantedHere) {
      return new Plan(true, null);
    }
    if (entry.handBack == null) {
      Cost costs = entry.owed(share(), now);
      if (costs.isNothing()) {
        entry.grantedHere = false;
        return new Plan(true, null);
      }
      entry.handBack = new HandBack(costs, newId.get());
    }
    return new Plan(true, entry.handBack);
  }

  /**
   * weir has answered the hand back.
   *
   * @param key of it
   * @param handBack what was sent
   */
  public void handedBack(String key, HandBack handBack) {
    Entry entry = mirror.find(key, fixed);
    if (entry != null && handBack.equals(entry.handBack)) {
      entry.handBack = null;
      entry.grantedHere = false;
    }
  }

  /** weir has replied to a request in time, whatever it was asked. */
  public void replied() {
    breaker.answered();
  }

  /**
   * weir has answered a take.
   *
   * @param key of the take
   * @param now milliseconds
   * @param answer what it has answered
   */
  public void answered(String key, double now, Answer answer) {
    if (answer.callers() != null) {
      callers = answer.callers();
    }
    boolean blocks = Boolean.TRUE.equals(answer.blocked());
    if (answer.blocked() != null) { // once a key was let through, it may be the override of another that lets none through
      blocked = blocks && !Boolean.FALSE.equals(blocked);
    }
    boolean tellsNone = blocks && seen != null; // such an answer tells no limits
    List<Spec> told = fixed != null || tellsNone ? fixed : answer.specs();
    if (seen == null || (told != null && !told.isEmpty())) { // a key without limits says nothing of those of others
      seen = told;
    }
    Entry entry = mirror.find(key, told);
    List<Spec> known = told != null ? told : seen;
    if (known == null) {
      return;
    }
    if (entry == null || entry.unknown) {
      entry = add(key, known, now);
    }
    if (answer.blocked() != null) {
      entry.blocked = answer.blocked();
    }
    if (answer.bannedMs() != null) {
      entry.bannedUntil = now + answer.bannedMs();
    }
    entry.charge(share(), now, answer.granted(), false);
    entry.told(now, answer.resetsMs());
  }

  /**
   * weir did not answer a call.
   *
   * @param now milliseconds
   * @param failure how it failed
   * @return true if it counts as away from now on
   */
  public boolean failed(double now, Failure failure) {
    return breaker.failed(now, failure);
  }

  /**
   * A call is decided here, after plan() said so or weir failed to answer it.
   *
   * @param key of the call
   * @param cost permits
   * @param now milliseconds
   * @param charge whether what is granted is charged
   * @return the decision
   */
  public Decision decide(String key, Cost cost, double now, boolean charge) {
    if (mode == Away.OPEN || mode == Away.CLOSED) {
      return Decision.without(mode == Away.OPEN);
    }
    Entry entry = entryAway(key, now);
    if (entry == null) {
      return Decision.without(false);
    }
    Decision decision = entry.decide(share(), now, cost);
    if (charge && decision.allowed()) {
      charge(key, cost, now);
    }
    return decision;
  }

  /**
   * Books here what may be used later. Only where a limit says how long that is: not where the limits are not known,
   * nor where nothing passes; and not of limits of which weir books nothing.
   *
   * @param key of the call
   * @param cost permits
   * @param maxWaitMs milliseconds; infinite for however long
   * @param now milliseconds
   * @return whether it is booked
   */
  public Booking book(String key, Cost cost, double maxWaitMs, double now) {
    Decision refused = refusedBooking(key, cost, now);
    if (refused != null) {
      return new Booking(false, refused);
    }
    Decision decision = decide(key, cost, now, true);
    double waitMs = decision.deciding().map(View::retryMs).orElse(View.NEVER);
    if (decision.allowed() || waitMs == View.NEVER || waitMs > maxWaitMs) {
      return new Booking(decision.allowed(), decision);
    }
    charge(key, cost, now);
    return new Booking(true, decision);
  }

  private Decision refusedBooking(String key, Cost cost, double now) {
    Entry entry = mode == Away.OPEN || mode == Away.CLOSED ? null : entryAway(key, now);
    return entry == null ? null : entry.refusedBooking(share(), now, cost);
  }

  /**
   * Takes here without asking, into debt if need be: after decide() without a charge, and for bookings.
   *
   * @param key of the call
   * @param cost permits
   * @param now milliseconds
   */
  public void charge(String key, Cost cost, double now) {
    Entry entry = entryAway(key, now);
    if (entry != null) {
      entry.charge(share(), now, cost, true);
      entry.handBack = null;
    }
  }

  /**
   * What was charged and not used.
   *
   * @param key of the call
   * @param cost permits
   * @param now milliseconds
   */
  public void giveBack(String key, long cost, double now) {
    Entry entry = mirror.find(key, fixed);
    if (entry != null) {
      entry.giveBack(share(), now, cost);
    }
  }

  // A key that is not in the mirror starts empty; null if its limits are not known.
  private Entry entryAway(String key, double now) {
    Entry entry = mirror.find(key, fixed);
    if (entry == null || (entry.unknown && entry.blocked && !isBlocked())) {
      if (seen == null) {
        return null;
      }
      entry = add(key, seen, now);
      entry.unknown = true;
      entry.drainedIn = breaker.absences();
      entry.drain(share(), now);
    } else if (mode == Away.STRICT && !breaker.isAway()) { // one time-out, which is no absence yet
      entry.drain(share(), now);
    } else if (mode == Away.STRICT && entry.drainedIn != breaker.absences()) {
      entry.drainedIn = breaker.absences();
      entry.drain(share(), breaker.since());
    }
    return entry;
  }

  // A key of a policy that lets nobody through is let through no more than those that weir has answered.
  private Entry add(String key, List<Spec> specs, double now) {
    Entry entry = mirror.add(key, specs, share(), now);
    entry.blocked = isBlocked();
    return entry;
  }

  private boolean isBlocked() {
    return Boolean.TRUE.equals(blocked);
  }
}
