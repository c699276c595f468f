package weir;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a call has answered, as an {@link Observer} is told it. What a call does not answer is empty.
 *
 * @param allowed whether it grants
 * @param source who decided: weir, local, open, closed or lot
 * @param remaining whole permits that are left
 * @param retryAfter until the same request succeeds; empty also where it never does
 * @param policy the name of the policy
 */
public record Outcome(boolean allowed, Optional<String> source, OptionalLong remaining, Optional<Duration> retryAfter,
    Optional<String> policy) {
  private static final String LOT = "lot";

  private static Optional<String> word(Source source) {
    return Optional.of(source.word());
  }

  private static Outcome of(boolean allowed, Optional<String> source, Optional<Duration> retryAfter) {
    return new Outcome(allowed, source, OptionalLong.empty(), retryAfter, Optional.empty());
  }

  static Outcome of(Verdict verdict) {
    return new Outcome(verdict.allowed(), word(verdict.source()), OptionalLong.of(verdict.remaining()),
        verdict.retryAfter(), verdict.policy());
  }

  static Outcome of(Verdicts verdicts) {
    int decided = verdicts.index() < 0 ? verdicts.each().size() - 1 : verdicts.index();
    return of(verdicts.allowed(), word(verdicts.each().get(decided).source()), verdicts.retryAfter());
  }

  static Outcome of(Reservation booking) {
    return of(booking.granted(), word(booking.source()), Optional.empty());
  }

  /** Permits that came back, or a take that its lot has asked weir for. */
  static Outcome of(boolean allowed) {
    return of(allowed, Optional.empty(), Optional.empty());
  }

  static Outcome ofLot(boolean allowed) {
    return of(allowed, Optional.of(LOT), Optional.empty());
  }
}
