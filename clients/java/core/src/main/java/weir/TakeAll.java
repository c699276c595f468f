package weir;

import io.lettuce.core.RedisCommandExecutionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import weir.core.Cost;
import weir.core.Plan;

/** Takes from several keys, each with its own limiter: from all or from none. */
final class TakeAll {
  private static final int KEYS_MAX = 16;
  // How long what is taken of one slot waits for the others.
  private static final Duration HOLD = Duration.ofSeconds(10);

  private TakeAll() {}

  static CompletableFuture<Verdicts> take(List<Part> parts) {
    Set<String> keys = new HashSet<>();
    parts.forEach(part -> keys.add(part.key()));
    if (parts.isEmpty() || parts.size() > KEYS_MAX || keys.size() < parts.size()) {
      throw new IllegalArgumentException("takeAll() takes 1 to 16 keys, each once");
    }
    Part first = parts.get(0); // whose observer is told
    return Observed.call(engine(first), "take_all", first.key(), () -> of(parts), Outcome::of);
  }

  private static CompletableFuture<Verdicts> of(List<Part> parts) {
    long endNs = engine(parts.get(0)).endNs();
    CompletableFuture<Boolean> asked = CompletableFuture.completedFuture(true);
    for (Part part : parts) {
      Plan plan = engine(part).plan(part.key());
      asked = asked.thenCompose(before -> Calls.handBack(engine(part), part.key(), plan.handBack(), endNs)
          .thenApply(isHandedBack -> before && plan.asks() && isHandedBack));
    }
    return asked.thenCompose(asks -> asks ? engine(parts.get(0)).ask(List.of(command(parts)), endNs)
        : CompletableFuture.<List<Object>>completedFuture(null)).handle((replies, error) -> {
      if (error != null) {
        return isOfSeveralSlots(error) ? oneByOne(parts, endNs) : CompletableFuture.<Verdicts>failedFuture(
            Failures.unwrap(error));
      }
      return CompletableFuture.completedFuture(replies == null ? decide(parts) : learn(parts, replies.get(0)));
    }).thenCompose(Function.identity());
  }

  private static Engine engine(Part part) {
    return part.limiter().engine();
  }

  private static boolean isOfSeveralSlots(Throwable error) {
    Throwable found = Failures.unwrap(error);
    return found instanceof RedisCommandExecutionException
        && String.valueOf(found.getMessage()).startsWith("CROSSSLOT");
  }

  private static Command command(List<Part> parts) {
    List<String> words = new ArrayList<>(List.of(Integer.toString(parts.size())));
    parts.forEach(part -> words.add(part.key()));
    List<String> costs = new ArrayList<>();
    for (Part part : parts) {
      words.add("EACH");
      words.addAll(engine(part).words);
      int limits = Math.max(1, engine(part).known().map(List::size).orElse(1));
      for (int limit = 0; limit < limits; limit++) {
        costs.add(Long.toString(part.cost()));
      }
    }
    String cost = Set.copyOf(costs).size() == 1 ? costs.get(0) : String.join(",", costs);
    words.addAll(List.of("COST", cost, "ID", Engine.newId(), "FULL"));
    return new Command("RL.MTAKE", words, 1);
  }

  private static Verdicts learn(List<Part> parts, Object reply) {
    parts.stream().skip(1).forEach(part -> engine(part).replied()); // the first one knows
    Map<String, Object> full = Replies.map(reply);
    boolean allowed = full.get("allowed").equals(1L);
    List<?> keys = (List<?>) full.get("keys");
    List<Verdict> each = new ArrayList<>();
    for (int index = 0; index < parts.size(); index++) {
      Part part = parts.get(index);
      each.add(engine(part).learn(part.key(), keys.get(index), new Cost(part.cost())));
    }
    return new Verdicts(allowed, ((Long) full.get("index")).intValue(), each);
  }

  /** Here: asked of all first, charged if all grant. */
  private static Verdicts decide(List<Part> parts) {
    List<Verdict> each = decide(parts, false);
    int index = -1;
    for (int at = 0; at < each.size(); at++) {
      boolean denies = !each.get(at).allowed();
      if (denies && (index < 0 || waitNs(each.get(at)) > waitNs(each.get(index)))) {
        index = at;
      }
    }
    return index < 0 ? new Verdicts(true, -1, decide(parts, true)) : new Verdicts(false, index, each);
  }

  private static List<Verdict> decide(List<Part> parts, boolean charge) {
    return parts.stream().map(part -> engine(part).decide(part.key(), new Cost(part.cost()), false, charge)).toList();
  }

  private static long waitNs(Verdict verdict) {
    return verdict.retryAfter().map(Duration::toNanos).orElse(Long.MAX_VALUE);
  }

  /**
   * Over slots of a cluster: a hold of each, settled if all grant and given back if not. Who ends in between has taken
   * what it held, so too much is never granted. That they are settled is not waited for beyond the end.
   */
  private static CompletableFuture<Verdicts> oneByOne(List<Part> parts, long endNs) {
    List<Verdict> held = new ArrayList<>();
    return holdNext(parts, held, endNs).handle((nothing, error) -> {
      boolean allowed = error == null && held.get(held.size() - 1).allowed();
      CompletableFuture<Void> ended = ended(parts, held, allowed);
      if (error != null) {
        return CompletableFuture.<Verdicts>failedFuture(Failures.unwrap(error));
      }
      Verdicts verdicts = new Verdicts(allowed, allowed ? -1 : held.size() - 1, List.copyOf(held));
      return ended.completeOnTimeout(null, endNs - System.nanoTime(), TimeUnit.NANOSECONDS)
          .thenApply(done -> verdicts);
    }).thenCompose(Function.identity());
  }

  private static CompletableFuture<Void> holdNext(List<Part> parts, List<Verdict> held, long endNs) {
    Part part = parts.get(held.size());
    return Calls.take(engine(part), Take.from(part.key()).cost(part.cost()), HOLD, endNs).thenCompose(verdict -> {
      held.add(verdict);
      return verdict.allowed() && held.size() < parts.size() ? holdNext(parts, held, endNs)
          : CompletableFuture.completedFuture(null);
    });
  }

  private static CompletableFuture<Void> ended(List<Part> parts, List<Verdict> held, boolean allowed) {
    List<CompletableFuture<?>> each = new ArrayList<>();
    for (int index = 0; index < held.size(); index++) {
      Verdict verdict = held.get(index);
      Part part = parts.get(index);
      if (verdict.allowed()) {
        each.add(new Hold(engine(part), part.key(), part.cost(), verdict).settleAsync(allowed ? part.cost() : 0));
      }
    }
    return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new));
  }
}
