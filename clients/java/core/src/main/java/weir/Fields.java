package weir;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import weir.core.Spec;

/** HTTP fields of a verdict, of draft-ietf-httpapi-ratelimit-headers-11. */
final class Fields {
  private static final long NS_PER_S = 1_000_000_000;

  private Fields() {}

  static Map<String, String> of(Verdict verdict, boolean legacy) {
    Map<String, String> found = new LinkedHashMap<>(verdict.fields().isEmpty() ? made(verdict) : verdict.fields());
    if (!verdict.allowed() && verdict.retryAfter().isPresent()) {
      found.putIfAbsent("Retry-After", Long.toString(Math.max(1, seconds(verdict.retryAfter().get()))));
    }
    if (legacy && !verdict.limits().isEmpty()) {
      found.put("X-RateLimit-Limit", Long.toString(verdict.limit()));
      found.put("X-RateLimit-Remaining", Long.toString(Math.max(0, verdict.remaining())));
      found.put("X-RateLimit-Reset", Long.toString(seconds(verdict.resetAfter().orElse(Duration.ZERO))));
    }
    return found;
  }

  private static Map<String, String> made(Verdict verdict) {
    if (verdict.limits().isEmpty()) {
      return Map.of();
    }
    List<String> names = verdict.itemNames();
    boolean areKnown = verdict.specs().size() == names.size();
    List<String> items = new ArrayList<>();
    List<String> policies = new ArrayList<>();
    for (int index = 0; index < names.size(); index++) {
      LimitState limit = verdict.limits().get(index);
      items.add(item(names.get(index), limit));
      policies.add(policy(names.get(index), limit, areKnown ? verdict.specs().get(index) : null));
    }
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("RateLimit", String.join(", ", items));
    fields.put("RateLimit-Policy", String.join(", ", policies));
    return fields;
  }

  private static String item(String name, LimitState limit) {
    String end = limit.resetAfter().map(reset -> ";t=" + seconds(reset)).orElse("");
    return "\"" + name + "\";r=" + Math.max(0, limit.remaining()) + end;
  }

  private static String policy(String name, LimitState limit, Spec spec) {
    long count = spec == null ? limit.limit() : (long) spec.count();
    boolean isWhole = limit.window().toSeconds() >= 1 && limit.window().getNano() == 0;
    return "\"" + name + "\";q=" + count + (isWhole ? ";w=" + limit.window().toSeconds() : "");
  }

  private static long seconds(Duration duration) {
    return Math.floorDiv(duration.toNanos() + NS_PER_S - 1, NS_PER_S);
  }
}
