package weir.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Limits as a request writes them, and what is made of them. */
public final class Limits {
  private static final Map<String, Double> MS = Map.of("us", 0.001, "ms", 1.0, "s", 1e3, "m", 60e3, "h", 3600e3,
      "d", 86400e3, "w", 604800e3);
  private static final Map<String, String> LONG_UNITS = Map.of("sec", "s", "second", "s", "min", "m", "minute", "m",
      "hour", "h", "day", "d", "week", "w");
  private static final Map<String, Double> CALENDAR_MS = Map.of("MINUTE", 60e3, "HOUR", 3600e3, "DAY", 86400e3,
      "WEEK", 604800e3, "MONTH", 31 * 86400e3, "QUARTER", 92 * 86400e3, "YEAR", 366 * 86400e3);
  private static final Map<String, Spec.Kind> KINDS = Map.of("GCRA", Spec.Kind.BUCKET, "TOKENBUCKET",
      Spec.Kind.BUCKET, "LEAKY", Spec.Kind.BUCKET, "BURSTY", Spec.Kind.BUCKET, "WARMUP", Spec.Kind.BUCKET,
      "FIXED", Spec.Kind.FIXED, "SLIDINGLOG", Spec.Kind.SLIDING, "SLIDINGWINDOW", Spec.Kind.SLIDING,
      "SLIDINGCOUNTER", Spec.Kind.SLIDING, "CONCURRENCY", Spec.Kind.LEASES);
  private static final Pattern RATE = Pattern.compile("(\\d+)/(\\d*)([A-Za-z]+)");
  private static final Pattern DURATION = Pattern.compile("(\\d*)([A-Za-z]+)");
  private static final Pattern QUOTA = Pattern.compile("\";q=(\\d+)");

  private Limits() {}

  /** A limit as an answer with FULL has it. */
  public record Answered(String name, String algorithm, double capacity, double windowMs) {}

  private record Rate(double count, double periodMs) {}

  /**
   * Limits as words of a request.
   *
   * @param limits such as {@code 100/1m BURST 20}
   * @return its words
   */
  public static List<String> words(String limits) {
    return limits.isBlank() ? List.of() : List.of(limits.trim().split("\\s+"));
  }

  /**
   * The limits that these words mean. What weir would refuse is not refused here, unless nothing can be made of it.
   *
   * @param words of a request
   * @return nothing if a policy is among them: weir alone knows its limits
   * @throws IllegalArgumentException if nothing can be made of them
   */
  public static Optional<List<Spec>> parse(List<String> words) {
    Deque<String> rest = new ArrayDeque<>(words);
    List<Spec> specs = new ArrayList<>();
    while (!rest.isEmpty()) {
      String word = upper(rest.peek());
      if (word.equals("POLICY")) {
        return Optional.empty();
      }
      if (KINDS.containsKey(word)) {
        rest.pop();
      }
      specs.add(limit(KINDS.containsKey(word) ? word : "GCRA", rest, specs.size()));
    }
    if (specs.isEmpty()) {
      throw new IllegalArgumentException("limits are missing");
    }
    return Optional.of(List.copyOf(specs));
  }

  /**
   * The limits of an answer with HEADERS.
   *
   * @param limits of the answer
   * @param policyField RateLimit-Policy, for the counts: an item for each limit, in their order, under names of its own
   * @return the limits
   */
  public static List<Spec> ofAnswer(List<Answered> limits, String policyField) {
    List<Double> counts = QUOTA.matcher(policyField).results().map(found -> Double.valueOf(found.group(1))).toList();
    boolean areTold = counts.size() == limits.size();
    List<Spec> specs = new ArrayList<>();
    for (Answered limit : limits) {
      double count = areTold ? counts.get(specs.size()) : limit.capacity;
      specs.add(new Spec(KINDS.getOrDefault(limit.algorithm, Spec.Kind.BUCKET), limit.name, count,
          limit.windowMs == 0 ? 1 : limit.windowMs, limit.capacity));
    }
    return List.copyOf(specs);
  }

  /**
   * Whether a limit has the name that FULL gives it where AS gives it none: its algorithm and its place.
   *
   * @param name of the limit
   * @param index its place
   * @return false if AS names it
   */
  public static boolean isUnnamed(String name, int index) {
    return KINDS.keySet().stream().anyMatch(algorithm -> name.equals(nameOf(algorithm, index)));
  }

  private static String nameOf(String algorithm, int index) {
    return algorithm.toLowerCase(Locale.ROOT) + index;
  }

  private static String upper(String word) {
    return word.toUpperCase(Locale.ROOT);
  }

  private static double durationMs(String text) {
    Matcher match = DURATION.matcher(text);
    if (!match.matches()) {
      throw new IllegalArgumentException("a duration must be an integer and a unit, got '" + text + "'");
    }
    String unit = match.group(2);
    if (!MS.containsKey(unit)) {
      unit = LONG_UNITS.getOrDefault(unit.toLowerCase(Locale.ROOT).replaceAll("s+$", ""), unit);
    }
    if (!MS.containsKey(unit)) {
      throw new IllegalArgumentException("a duration has the units us ms s m h d w, got '" + text + "'");
    }
    return (match.group(1).isEmpty() ? 1 : Double.parseDouble(match.group(1))) * MS.get(unit);
  }

  private static Spec limit(String algorithm, Deque<String> rest, int index) {
    Rate rate = rate(rest);
    Map<String, String> options = new HashMap<>();
    while (!rest.isEmpty() && !beginsLimit(rest)) {
      String option = upper(rest.pop());
      if (rest.isEmpty()) {
        throw new IllegalArgumentException(option + " needs a value");
      }
      options.put(option, rest.pop());
    }
    double period = rate.periodMs != 0 ? rate.periodMs
        : CALENDAR_MS.getOrDefault(upper(options.getOrDefault("ALIGN", "")), 0.0);
    if (algorithm.equals("CONCURRENCY")) {
      period = durationMs(options.getOrDefault("LEASE", "1s"));
    }
    if (period == 0) {
      throw new IllegalArgumentException("limit " + index + " (" + algorithm + ") needs a period");
    }
    String name = options.getOrDefault("AS", nameOf(algorithm, index));
    boolean isAtOnce = upper(options.getOrDefault("REFILL", "")).equals("INTERVAL");
    Spec.Kind kind = isAtOnce ? Spec.Kind.INTERVAL : KINDS.get(algorithm);
    return new Spec(kind, name, rate.count, period, capacity(algorithm, rate.count, period, options));
  }

  private static boolean beginsLimit(Deque<String> rest) {
    String word = upper(rest.peek());
    return KINDS.containsKey(word) || word.equals("POLICY") || RATE.matcher(word).matches()
        || (rest.size() > 2 && upper(rest.stream().skip(1).findFirst().get()).equals("PER"));
  }

  private static Rate rate(Deque<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException("a rate is missing");
    }
    String word = rest.pop();
    Matcher match = RATE.matcher(word);
    if (match.matches()) {
      return new Rate(Double.parseDouble(match.group(1)), durationMs(match.group(2) + match.group(3)));
    }
    if (!isNumber(word)) {
      throw new IllegalArgumentException(
          "a limit must come here: a rate such as 100/1m, an algorithm or POLICY, got '" + word + "'");
    }
    if (rest.size() < 2 || !upper(rest.peek()).equals("PER")) {
      return new Rate(Double.parseDouble(word), 0);
    }
    rest.pop();
    String period = rest.pop();
    if (isNumber(period) && !rest.isEmpty()) {
      period += rest.pop();
    }
    return new Rate(Double.parseDouble(word), durationMs(period));
  }

  private static boolean isNumber(String word) {
    return !word.isEmpty() && word.chars().allMatch(letter -> letter >= '0' && letter <= '9');
  }

  private static double capacity(String algorithm, double count, double period, Map<String, String> options) {
    if (algorithm.equals("GCRA") && options.containsKey("BURST")) {
      return Double.parseDouble(options.get("BURST")) + 1;
    }
    if (algorithm.equals("BURSTY")) {
      return Math.max(1, count * durationMs(options.getOrDefault("MAXBURST", "1s")) / period);
    }
    if (algorithm.equals("WARMUP")) {
      return 1;
    }
    return options.containsKey("CAPACITY") ? Double.parseDouble(options.get("CAPACITY")) : count;
  }
}
