package weir.web;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import weir.LimitState;
import weir.Source;
import weir.Verdict;

class ProblemTest {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static LimitState limit(String name, long remaining) {
    return new LimitState(name, 10, remaining, Optional.of(MINUTE), MINUTE);
  }

  private static void violates(String wanted, Optional<String> policy, LimitState... limits) {
    Verdict verdict = new Verdict(false, 10, 0, Optional.of(MINUTE), Optional.of(MINUTE), policy,
        Stream.of(limits).toList(), 0, OptionalLong.empty(), false, Source.WEIR, List.of(), Map.of());
    String body = Problem.of(verdict, 2);
    assertTrue(body.endsWith("\"violated-policies\": [" + wanted + "]}"), body);
  }

  @Test
  void limitsThatDenyAreNamedAsInTheFields() {
    violates("\"hourly\"", Optional.empty(), limit("hourly", 1), limit("gcra1", 2));
    violates("\"default\", \"default-2\"", Optional.empty(), limit("fixed0", 0), limit("gcra1", 1));
    violates("\"api-2\"", Optional.of("api"), limit("fixed0", 9), limit("gcra1", 1));
  }
}
