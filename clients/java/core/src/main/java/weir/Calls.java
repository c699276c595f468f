package weir;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import weir.core.Cost;
import weir.core.HandBack;
import weir.core.Plan;

/** Each call of a limiter. */
final class Calls {
  private static final long NS_PER_MS = 1_000_000;
  // Who waits while weir is away looks again after this at the latest.
  private static final long LATER_NS = 500 * NS_PER_MS;

  private Calls() {}

  private static List<String> options(Take take, Duration hold) {
    List<String> words = new ArrayList<>(8);
    words.add("COST");
    words.add(take.cost().toString());
    if (take.takesWhatThereIs()) {
      words.add("UPTO");
    }
    if (hold != null) {
      words.add("HOLD");
      words.add(Math.max(1, hold.toMillis()) + "ms");
    }
    return words;
  }

  private static Object last(List<Object> replies) {
    return replies.get(replies.size() - 1);
  }

  /** `hold` is null for a take that is final. */
  static CompletableFuture<Verdict> take(Engine engine, Take take, Duration hold) {
    String key = take.key();
    Plan plan = engine.plan(key);
    if (!plan.asks()) {
      return CompletableFuture.completedFuture(engine.decide(key, take.cost(), take.takesWhatThereIs(), true));
    }
    List<String> words = options(take, hold);
    words.addAll(List.of("ID", take.id().orElseGet(Engine::newId), "HEADERS"));
    Command command = engine.command("RL.TAKE", key, words);
    HandBack back = plan.handBack();
    List<Command> commands =
        back == null ? List.of(command) : List.of(engine.handBackCommand(key, back), command);
    return engine.ask(commands).thenCompose(replies -> {
      if (replies == null) {
        return CompletableFuture.completedFuture(engine.decide(key, take.cost(), take.takesWhatThereIs(), true));
      }
      CompletableFuture<Void> before = back == null || replies.get(0) instanceof Throwable
          ? CompletableFuture.completedFuture(null) : handedBack(engine, key, back, replies.get(0));
      return before.thenApply(nothing -> engine.learn(key, last(replies), take.cost()));
    });
  }

  /** In a request of its own, before a call that is no take. */
  static CompletableFuture<Void> handBack(Engine engine, String key, HandBack back) {
    if (back == null) {
      return CompletableFuture.completedFuture(null);
    }
    return engine.ask(List.of(engine.handBackCommand(key, back))).thenCompose(replies ->
        replies == null ? CompletableFuture.completedFuture(null) : handedBack(engine, key, back, last(replies)));
  }

  // Of several limits each has its own cost, all or none; denied, all are charged with the most, up to what is there.
  private static CompletableFuture<Void> handedBack(Engine engine, String key, HandBack back, Object reply) {
    boolean denied = ((List<?>) reply).get(0).equals(0L);
    if (back.costs().isOne() || !denied) {
      engine.handedBack(key, back);
      return CompletableFuture.completedFuture(null);
    }
    Command command = engine.command("RL.TAKE", key, "COST", Long.toString(back.costs().most()), "UPTO", "ID",
        back.id() + "u");
    return engine.ask(List.of(command)).thenAccept(replies -> {
      if (replies != null) {
        engine.handedBack(key, back);
      }
    });
  }

  static CompletableFuture<Verdict> peek(Engine engine, String key, Cost cost) {
    if (!engine.plan(key).asks()) {
      return CompletableFuture.completedFuture(engine.decide(key, cost, false, false));
    }
    Command command = engine.command("RL.PEEK", key, "COST", cost.toString(), "HEADERS");
    return engine.ask(List.of(command)).thenApply(replies ->
        replies == null ? engine.decide(key, cost, false, false) : engine.peeked(last(replies)));
  }

  /** Waits in weir; while it is away, here. Who cancels the future gives up the turn. */
  static CompletableFuture<Verdict> acquire(Engine engine, Take take, Duration timeout) {
    Take once = take.id().isPresent() ? take : take.id(Engine.newId());
    Waiting waiting = new Waiting(engine, once, System.nanoTime() + timeout.toNanos(), new AtomicReference<>());
    CompletableFuture<Verdict> verdict = waiting.go();
    verdict.whenComplete((value, error) -> {
      CompletableFuture<?> sent = waiting.sent.get();
      if (verdict.isCancelled() && sent != null) {
        sent.cancel(true);
      }
    });
    return verdict;
  }

  private record Waiting(Engine engine, Take take, long endNs, AtomicReference<CompletableFuture<?>> sent) {
    private long leftNs() {
      return endNs - System.nanoTime();
    }

    CompletableFuture<Verdict> go() {
      Plan plan = engine.plan(take.key());
      if (!plan.asks()) {
        return here();
      }
      return handBack(engine, take.key(), plan.handBack()).thenCompose(nothing -> {
        long left = Math.max(NS_PER_MS, leftNs());
        List<String> words = options(take, null);
        words.addAll(List.of("TIMEOUT", Long.toString(Math.max(1, left / NS_PER_MS)), "ID", take.id().get(),
            "HEADERS"));
        return engine.ask(engine.command("RL.ACQUIRE", take.key(), words), left, sent::set);
      }).thenCompose(replies -> replies == null ? here()
          : CompletableFuture.completedFuture(engine.learn(take.key(), last(replies), take.cost())));
    }

    private CompletableFuture<Verdict> here() {
      Verdict verdict = engine.decide(take.key(), take.cost(), false, true);
      Optional<Duration> retry = verdict.retryAfter();
      long left = leftNs();
      if (verdict.allowed() || retry.isEmpty() || left <= 0 || retry.get().toNanos() > left) {
        return CompletableFuture.completedFuture(verdict);
      }
      long pause = Math.min(Math.min(left, retry.get().toNanos()), LATER_NS);
      return engine.weir.timer().sleep(pause).thenCompose(nothing -> go());
    }
  }

  /** `maxWait` is null for however long. */
  static CompletableFuture<Reservation> reserve(Engine engine, Take take, Duration maxWait) {
    String key = take.key();
    Plan plan = engine.plan(key);
    if (!plan.asks()) {
      return CompletableFuture.completedFuture(reserveHere(engine, take, maxWait));
    }
    List<String> words = new ArrayList<>(List.of("COST", take.cost().toString()));
    if (maxWait != null) {
      words.addAll(List.of("MAXWAIT", Long.toString(maxWait.toMillis())));
    }
    words.addAll(List.of("ID", take.id().orElseGet(Engine::newId)));
    Command command = engine.command("RL.RESERVE", key, words);
    return handBack(engine, key, plan.handBack()).thenCompose(nothing -> engine.ask(List.of(command)))
        .thenApply(replies ->
            replies == null ? reserveHere(engine, take, maxWait) : booked(engine, take, last(replies)));
  }

  private static Reservation booked(Engine engine, Take take, Object reply) {
    List<?> fields = (List<?>) reply;
    boolean granted = fields.get(0).equals(1L);
    if (granted) {
      engine.note(take.key(), take.cost().most());
    }
    Long id = (Long) fields.get(2);
    return new Reservation(granted, Replies.duration((Long) fields.get(1)),
        id == null ? OptionalLong.empty() : OptionalLong.of(id), Source.WEIR);
  }

  private static Reservation reserveHere(Engine engine, Take take, Duration maxWait) {
    Verdict verdict = engine.decide(take.key(), take.cost(), false, true);
    Optional<Duration> wait = verdict.retryAfter();
    boolean isTooLong = wait.isEmpty() || (maxWait != null && wait.get().compareTo(maxWait) > 0);
    if (verdict.allowed() || isTooLong || verdict.source() == Source.CLOSED) {
      return new Reservation(verdict.allowed(), wait, OptionalLong.empty(), verdict.source());
    }
    if (verdict.limits().isEmpty()) { // its limits are not known: nothing can be booked
      return new Reservation(false, wait, OptionalLong.empty(), verdict.source());
    }
    engine.charge(take.key(), take.cost());
    return new Reservation(true, wait, OptionalLong.empty(), verdict.source());
  }

  /** RL.SETTLE, RL.CANCEL, RL.RENEW, RL.RELEASE: each may be sent again. Nothing if weir does not answer. */
  static CompletableFuture<Optional<Object>> ofId(Engine engine, String name, String key, long id, String... more) {
    if (!engine.plan(key).asks()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    List<String> words = new ArrayList<>(List.of(Long.toString(id)));
    words.addAll(List.of(more));
    return engine.ask(List.of(Command.of(name, key, words))).thenApply(replies ->
        replies == null ? Optional.empty() : Optional.of(last(replies) == null ? NOTHING : last(replies)));
  }

  /** The reply null: weir has answered, and knows of no such id. */
  static final Object NOTHING = new Object();
}
