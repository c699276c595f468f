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

  // The field of a reply to SHADOW that names the limit that would deny, and what it says where none would.
  private static final int SHADOW_INDEX = 5;
  private static final Long ALL_ALLOW = -1L;

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
    return take(engine, take, hold, engine.endNs());
  }

  static CompletableFuture<Verdict> take(Engine engine, Take take, Duration hold, long endNs) {
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
    return engine.ask(commands, endNs).thenCompose(replies -> {
      if (replies == null) {
        return CompletableFuture.completedFuture(engine.decide(key, take.cost(), take.takesWhatThereIs(), true));
      }
      CompletableFuture<Boolean> before = back == null || replies.get(0) instanceof Throwable
          ? CompletableFuture.completedFuture(false) : handedBack(engine, key, back, replies.get(0), endNs);
      return before.thenApply(any -> engine.learn(key, last(replies), take.cost()));
    });
  }

  /**
   * In a request of its own, before a call that is no take; both end by the same instant. False if weir does not
   * answer: then it is not asked for more, which it would grant beside what was granted here.
   */
  static CompletableFuture<Boolean> handBack(Engine engine, String key, HandBack back, long endNs) {
    if (back == null) {
      return CompletableFuture.completedFuture(true);
    }
    return engine.ask(List.of(engine.handBackCommand(key, back)), endNs).thenCompose(replies -> replies == null
        ? CompletableFuture.completedFuture(false) : handedBack(engine, key, back, last(replies), endNs));
  }

  // Of several limits each has its own cost, all or none; denied, all are charged with the most, up to what is there.
  private static CompletableFuture<Boolean> handedBack(Engine engine, String key, HandBack back, Object reply,
      long endNs) {
    if (back.costs().isOne() || ((List<?>) reply).get(SHADOW_INDEX).equals(ALL_ALLOW)) {
      engine.handedBack(key, back);
      return CompletableFuture.completedFuture(true);
    }
    Command command = engine.command("RL.TAKE", key, "COST", Long.toString(back.costs().most()), "UPTO",
        "SHADOW", "ID", back.id() + "u");
    return engine.ask(List.of(command), endNs).thenApply(replies -> {
      if (replies != null) {
        engine.handedBack(key, back);
      }
      return replies != null;
    });
  }

  static CompletableFuture<Verdict> peek(Engine engine, String key, Cost cost) {
    long endNs = engine.endNs();
    if (!engine.plan(key).asks()) {
      return CompletableFuture.completedFuture(engine.decide(key, cost, false, false));
    }
    Command command = engine.command("RL.PEEK", key, "COST", cost.toString(), "HEADERS");
    return engine.ask(List.of(command), endNs).thenApply(replies ->
        replies == null ? engine.decide(key, cost, false, false) : engine.peeked(last(replies), cost));
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
      long atLatest = endNs + engine.weir.options().deadlineNs();
      long end = engine.endNs();
      return handBack(engine, take.key(), plan.handBack(), end - atLatest < 0 ? end : atLatest).thenCompose(asks -> {
        if (!asks) {
          return CompletableFuture.completedFuture(null);
        }
        List<String> words = options(take, null);
        words.addAll(List.of("TIMEOUT", Long.toString(Math.max(1, leftNs() / NS_PER_MS)), "ID", take.id().get(),
            "HEADERS"));
        return engine.ask(engine.command("RL.ACQUIRE", take.key(), words), atLatest, sent::set);
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
    long endNs = engine.endNs();
    Plan plan = engine.plan(key);
    if (!plan.asks()) {
      return CompletableFuture.completedFuture(engine.book(key, take.cost(), maxWait));
    }
    List<String> words = new ArrayList<>(List.of("COST", take.cost().toString()));
    if (maxWait != null) {
      words.addAll(List.of("MAXWAIT", Long.toString(maxWait.toMillis())));
    }
    words.addAll(List.of("ID", take.id().orElseGet(Engine::newId)));
    Command command = engine.command("RL.RESERVE", key, words);
    return handBack(engine, key, plan.handBack(), endNs)
        .thenCompose(asks -> asks ? engine.ask(List.of(command), endNs) : CompletableFuture.completedFuture(null))
        .thenApply(replies ->
            replies == null ? engine.book(key, take.cost(), maxWait) : booked(engine, take, last(replies)));
  }

  private static Reservation booked(Engine engine, Take take, Object reply) {
    List<?> fields = (List<?>) reply;
    boolean granted = fields.get(0).equals(1L);
    engine.note(take.key(), granted ? take.cost().most() : 0);
    Long id = (Long) fields.get(2);
    return new Reservation(granted, Replies.duration((Long) fields.get(1)),
        id == null ? OptionalLong.empty() : OptionalLong.of(id), Source.WEIR);
  }

  /** Asked while weir is away, too, for a lease does not wait for the next probe. Nothing if weir does not answer. */
  static CompletableFuture<Optional<Object>> renew(Engine engine, String key, long id) {
    long endNs = engine.endNs();
    engine.probe();
    return asked(engine, Command.of("RL.RENEW", key, List.of(Long.toString(id))), endNs);
  }

  /** RL.SETTLE, RL.CANCEL, RL.RELEASE: each may be sent again. Nothing if weir does not answer. */
  static CompletableFuture<Optional<Object>> ofId(Engine engine, String name, String key, long id, String... more) {
    long endNs = engine.endNs();
    if (!engine.plan(key).asks()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    List<String> words = new ArrayList<>(List.of(Long.toString(id)));
    words.addAll(List.of(more));
    return asked(engine, Command.of(name, key, words), endNs);
  }

  private static CompletableFuture<Optional<Object>> asked(Engine engine, Command command, long endNs) {
    return engine.ask(List.of(command), endNs).thenApply(replies -> replies == null
        ? Optional.empty() : Optional.of(last(replies) == null ? NOTHING : last(replies)));
  }

  /** The reply null: weir has answered, and knows of no such id. */
  static final Object NOTHING = new Object();
}
