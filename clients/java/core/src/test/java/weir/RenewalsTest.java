package weir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import weir.core.Limits;

/** When a lease is renewed; by instants alone. */
class RenewalsTest {
  private static final long MS = 1_000_000;
  private static final long S = 1000 * MS;

  private static final class Tries {
    final List<Long> sent = new ArrayList<>();
    boolean isLost;

    /** What weir answers to each: whether the lease runs, null for nothing; each takes so long. */
    Tries(long lastsNs, List<Boolean> answers, long eachNs) {
      Renewals renewals = new Renewals(lastsNs, 0);
      long now = 0;
      for (Boolean answer : answers) {
        long sentNs = now + renewals.pauseNs(now);
        sent.add(sentNs);
        now = sentNs + eachNs;
        if (answer == null) {
          renewals.missed(now);
        } else {
          renewals.answered(sentNs, answer);
        }
        isLost = renewals.isLost();
        if (isLost) {
          break;
        }
      }
    }
  }

  private static List<Boolean> none(int count) {
    return Collections.nCopies(count, null);
  }

  @Test
  void thriceInItsLength() {
    assertEquals(List.of(10 * S, 20 * S, 30 * S, 40 * S), new Tries(30 * S, Collections.nCopies(4, true), 0).sent);
  }

  @Test
  void soonAgainAndThenLessOften() {
    List<Boolean> answers = new ArrayList<>(List.of(true));
    answers.addAll(none(60));
    Tries tries = new Tries(300 * S, answers, 0);
    assertFalse(tries.isLost);
    for (int index = 2; index < tries.sent.size(); index++) {
      long pause = tries.sent.get(index) - tries.sent.get(index - 1);
      assertTrue(pause < (index == 2 ? 100 * MS : 2 * S), "soon");
      assertTrue(index < 8 || pause > S / 2, "not often");
    }
  }

  @Test
  void lostAtItsEndAndNotAfter() {
    for (long lastsNs : new long[] {500 * MS, 2 * S, 30 * S}) {
      Tries tries = new Tries(lastsNs, none(1000), 0);
      assertTrue(tries.isLost);
      assertEquals(lastsNs, tries.sent.get(tries.sent.size() - 1));
      assertEquals(List.of(lastsNs / 3), new Tries(lastsNs, List.of(false, true), 0).sent);
    }
  }

  @Test
  void oneThatIsNotAnsweredLosesNone() {
    for (long lastsNs : new long[] {500 * MS, S, 30 * S, 3600 * S}) {
      Tries tries = new Tries(lastsNs, Arrays.asList(null, true, null, null, true), 50 * MS);
      assertEquals(5, tries.sent.size());
      assertFalse(tries.isLost);
    }
  }

  @Test
  void itsLengthIsThatOfItsLease() {
    Duration hour = Duration.ofHours(1);
    List<LimitState> limits = List.of(new LimitState("pool", 1, 0, Optional.of(hour), hour),
        new LimitState("rate", 100, 99, Optional.of(Duration.ZERO), Duration.ofSeconds(1)));
    Verdict verdict = new Verdict(true, 1, 0, Optional.of(Duration.ZERO), Optional.of(hour), Optional.empty(), limits,
        1, OptionalLong.of(7), false, Source.WEIR, Limits.parse(Limits.words("CONCURRENCY 1 LEASE 1h 100/1s")).get(),
        Map.of());
    assertEquals(hour.toNanos(), Renewals.leaseNs(verdict));
  }
}
