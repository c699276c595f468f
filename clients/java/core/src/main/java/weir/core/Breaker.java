package weir.core;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/** Whether weir is away: when to stop asking it, and when to ask whether it is back. */
public final class Breaker {
  private static final int LATE_IN_A_ROW = 2;
  private static final int LATE_OF_LAST = 5;
  private static final int LAST = 10;
  private static final double PROBE_MS = 1000;
  private static final double PROBE_LASTS_MS = 2000; // after that it is no longer waited for
  private static final double NONE = -1;

  private final DoubleSupplier jitter;
  private final Deque<Boolean> last = new ArrayDeque<>(); // whether each was late
  private int lateInRow;
  private double nextProbe;
  private double probeSince = NONE;
  private Failure cause; // null: weir is there
  private double since;
  private int absences;

  Breaker(DoubleSupplier jitter) {
    this.jitter = jitter;
  }

  /**
   * Whether weir counts as away.
   *
   * @return true if calls are decided here
   */
  public boolean isAway() {
    return cause != null;
  }

  /**
   * Why weir is away.
   *
   * @return nothing if it is there
   */
  public Optional<Failure> cause() {
    return Optional.ofNullable(cause);
  }

  /**
   * How often weir has been away.
   *
   * @return a count
   */
  public int absences() {
    return absences;
  }

  double since() {
    return since;
  }

  void answered() {
    remember(false);
    lateInRow = 0;
  }

  private void remember(boolean late) {
    last.addLast(late);
    if (last.size() > LAST) {
      last.pollFirst();
    }
  }

  /** True if weir counts as away from now on. */
  boolean failed(double now, Failure failure) {
    if (isAway()) {
      return false;
    }
    if (failure == Failure.LATE) {
      remember(true);
      lateInRow++;
      if (lateInRow < LATE_IN_A_ROW && last.stream().filter(late -> late).count() < LATE_OF_LAST) {
        return false;
      }
    }
    cause = failure;
    since = now;
    absences++;
    probeSince = NONE;
    schedule(now);
    return true;
  }

  private void schedule(double now) {
    nextProbe = now + PROBE_MS * (0.8 + 0.4 * jitter.getAsDouble());
  }

  /**
   * Whether the caller is to probe now: one at a time, about one a second.
   *
   * @param now milliseconds
   * @return true if it is to
   */
  public boolean beginProbe(double now) {
    boolean runs = probeSince != NONE && now - probeSince < PROBE_LASTS_MS;
    if (!isAway() || now < nextProbe || runs) {
      return false;
    }
    probeSince = now;
    return true;
  }

  /**
   * The probe's outcome.
   *
   * @param now milliseconds
   * @param answered whether weir has answered
   * @return true if weir is back
   */
  public boolean probed(double now, boolean answered) {
    if (!isAway()) {
      return false;
    }
    probeSince = NONE;
    schedule(now);
    if (answered) {
      cause = null;
      since = now;
      last.clear();
      lateInRow = 0;
    }
    return answered;
  }
}
