package weir;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import weir.core.Answer;
import weir.core.Cost;
import weir.core.Decision;
import weir.core.Limits;
import weir.core.Spec;
import weir.core.View;

/** Verdicts of what weir answers, and of what is decided here. */
final class Replies {
  private static final Duration CLOSED_RETRY = Duration.ofSeconds(1);
  private static final double NS_PER_MS = 1e6;

  private Replies() {}

  /** A reply with FULL: the verdict, and what the core learns from it. */
  record Full(Verdict verdict, double[] resetsMs, boolean blocked, Double bannedMs, Long callers) {
    Answer answer(Cost granted) {
      return new Answer(granted, verdict.specs(), resetsMs, blocked, bannedMs, callers);
    }
  }

  static Optional<Duration> duration(double ms) {
    return ms == View.NEVER ? Optional.empty() : Optional.of(Duration.ofNanos(Math.round(ms * NS_PER_MS)));
  }

  /** A map as flat pairs, which it is in both protocols by the time it is read. */
  static Map<String, Object> map(Object reply) {
    List<?> pairs = (List<?>) reply;
    Map<String, Object> found = new HashMap<>();
    for (int index = 0; index + 1 < pairs.size(); index += 2) {
      found.put((String) pairs.get(index), pairs.get(index + 1));
    }
    return found;
  }

  private static long number(Map<String, Object> map, String name) {
    return (Long) map.get(name);
  }

  private static Map<String, String> texts(Object reply) {
    Map<String, String> texts = new HashMap<>();
    if (reply != null) {
      map(reply).forEach((name, value) -> texts.put(name, (String) value));
    }
    return texts;
  }

  /**
   * Of a map that weir answered with FULL or HEADERS to a request of that cost; `known` are the limits that were asked,
   * or null.
   */
  static Full full(Object reply, List<Spec> known, Cost cost) {
    Map<String, Object> full = map(reply);
    List<Limits.Answered> limits = new ArrayList<>();
    List<LimitState> states = new ArrayList<>();
    List<?> rows = (List<?>) full.get("limits");
    double[] resetsMs = new double[rows.size()];
    for (int index = 0; index < resetsMs.length; index++) {
      Map<String, Object> limit = map(rows.get(index));
      limits.add(new Limits.Answered((String) limit.get("name"), (String) limit.get("algorithm"),
          number(limit, "capacity"), number(limit, "window_ms")));
      resetsMs[index] = number(limit, "reset_ms");
      states.add(new LimitState((String) limit.get("name"), number(limit, "capacity"), number(limit, "remaining"),
          duration(resetsMs[index]), Duration.ofMillis(number(limit, "window_ms"))));
    }
    Map<String, String> fields = texts(full.get("headers"));
    List<Spec> specs = known != null ? known : Limits.ofAnswer(limits, fields.getOrDefault("RateLimit-Policy", ""));
    boolean allowed = number(full, "allowed") == 1;
    Optional<LimitState> chosen = deciding(states, allowed);
    Long id = (Long) (full.get("hold") != null ? full.get("hold") : full.get("lease"));
    Verdict verdict = new Verdict(allowed, chosen.map(LimitState::limit).orElse(-1L),
        chosen.map(LimitState::remaining).orElse(-1L), duration(number(full, "retry_ms")),
        chosen.map(LimitState::resetAfter).orElse(Optional.of(Duration.ZERO)),
        Optional.ofNullable((String) full.get("policy")), List.copyOf(states), number(full, "granted"),
        id == null ? OptionalLong.empty() : OptionalLong.of(id), number(full, "banned") == 1, Source.WEIR, specs,
        fields);
    Double bannedMs = bannedMs(verdict, number(full, "retry_ms"), cost);
    return new Full(verdict, resetsMs, states.isEmpty() && !allowed, bannedMs, (Long) full.get("callers"));
  }

  // For how long the key is banned, null where it is not told. A request of nothing meets no ban, and one that is never
  // granted does not tell when the ban ends.
  private static Double bannedMs(Verdict verdict, double retryMs, Cost cost) {
    boolean denies = verdict.banned() && !verdict.allowed();
    boolean isTold = denies ? retryMs >= 0 : !cost.isNothing();
    return isTold ? Double.valueOf(denies ? retryMs : 0) : null;
  }

  // FULL does not name the deciding limit: the one with the least left, of a denial that which needs longest.
  private static Optional<LimitState> deciding(List<LimitState> states, boolean allowed) {
    Comparator<LimitState> order = allowed ? Comparator.comparing(LimitState::remaining)
        : Comparator.<LimitState, Boolean>comparing(state -> state.remaining() > 0)
            .thenComparing(Replies::resetMs, Comparator.reverseOrder());
    return states.stream().min(order);
  }

  private static double resetMs(LimitState state) {
    return state.resetAfter().map(reset -> reset.toNanos() / NS_PER_MS).orElse(Double.POSITIVE_INFINITY);
  }

  /** Of a decision that was made here. */
  static Verdict decided(Decision decision, Source source, long cost, Optional<String> policy) {
    long granted = decision.allowed() ? cost : 0;
    Optional<View> deciding = decision.deciding();
    if (deciding.isEmpty()) {
      return new Verdict(decision.allowed(), -1, -1, Optional.of(decision.allowed() ? Duration.ZERO : CLOSED_RETRY),
          Optional.of(Duration.ZERO), policy, List.of(), granted, OptionalLong.empty(), false, source, List.of(),
          Map.of());
    }
    List<LimitState> states = new ArrayList<>();
    for (int index = 0; index < decision.views().size(); index++) {
      View view = decision.views().get(index);
      Spec spec = decision.specs().get(index);
      states.add(new LimitState(spec.name(), view.limit(), view.remaining(), duration(view.resetMs()),
          duration(spec.periodMs()).get()));
    }
    View view = deciding.get();
    return new Verdict(decision.allowed(), view.limit(), view.remaining(), duration(view.retryMs()),
        duration(view.resetMs()), policy, List.copyOf(states), granted, OptionalLong.empty(), false, source,
        decision.specs(), Map.of());
  }
}
