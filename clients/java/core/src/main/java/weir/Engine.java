package weir;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import weir.core.Answer;
import weir.core.Away;
import weir.core.Booking;
import weir.core.Core;
import weir.core.Cost;
import weir.core.Decision;
import weir.core.Failure;
import weir.core.HandBack;
import weir.core.Limits;
import weir.core.Plan;
import weir.core.Spec;

/** One limiter's limits, its core, and what is counted of it. Safe for threads. */
final class Engine {
  private static final double NS_PER_MS = 1e6;
  private static final double MS_PER_S = 1e3;
  private static final long PROBE_NS = 1_000_000_000;
  private static final int ID_BYTES = 12;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String ID_PREFIX = newPrefix();

  final List<String> words;
  final Weir weir;
  final Observer observer; // null: nobody is told of calls
  private final Core core;
  private final Optional<String> policy;
  private final List<Consumer<Change>> listeners;
  private long changedNs = System.nanoTime();
  private long awayNs;
  private long asked;
  private long decidedHere;
  private long probes;
  private String lastKey = "weir:probe";

  Engine(Weir weir, List<String> words, Core core, List<Consumer<Change>> listeners, Observer observer) {
    this.weir = weir;
    this.words = List.copyOf(words);
    this.observer = observer;
    this.core = core;
    this.policy = core.given() != null ? Optional.empty() : policyOf(words);
    this.listeners = List.copyOf(listeners);
  }

  private static Optional<String> policyOf(List<String> words) {
    int at = words.stream().map(word -> word.toUpperCase(Locale.ROOT)).toList().indexOf("POLICY");
    return at + 1 < words.size() ? Optional.of(words.get(at + 1)) : Optional.empty();
  }

  private static String newPrefix() {
    byte[] bytes = new byte[ID_BYTES];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }

  /** Random for the process and for the call. */
  static String newId() {
    return ID_PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong());
  }

  private static double nowMs() {
    return System.nanoTime() / NS_PER_MS;
  }

  synchronized State state() {
    long age = System.nanoTime() - changedNs;
    boolean away = core.breaker().isAway();
    return new State(away, core.breaker().cause(), Duration.ofNanos(age), Duration.ofNanos(awayNs + (away ? age : 0)),
        core.breaker().absences(), asked, decidedHere, probes, core.share(), core.keys());
  }

  synchronized Optional<List<Spec>> known() {
    return core.known();
  }

  /** Away and back. */
  private void change(boolean away, Optional<Failure> cause) {
    long lasted;
    synchronized (this) {
      long now = System.nanoTime();
      lasted = now - changedNs;
      changedNs = now;
      awayNs += away ? 0 : lasted;
    }
    Change change = new Change(away, cause, Duration.ofNanos(lasted));
    listeners.forEach(listener -> weir.listening().execute(() -> listener.accept(change)));
  }

  /** weir has replied to a request in time, whatever it was asked. */
  synchronized void replied() {
    core.replied();
  }

  private void failed(Failure failure) {
    boolean broke;
    synchronized (this) {
      broke = core.failed(nowMs(), failure);
    }
    if (broke) {
      change(true, Optional.of(failure));
    }
  }

  /** Where weir is away and the time has come: a probe beside the call. */
  void probe() {
    Command command;
    synchronized (this) {
      if (!core.breaker().isAway() || !core.breaker().beginProbe(nowMs())) {
        return;
      }
      probes++;
      command = probeCommand();
    }
    long end = System.nanoTime() + Math.min(PROBE_NS, 2 * weir.options().deadlineNs());
    weir.transport().send(List.of(command), end, false).whenComplete((replies, error) -> {
      Throwable found = error != null ? error : errorOf(replies);
      probed(found == null || Failures.of(found).isEmpty()); // a fault of the program is told to its next call
    });
  }

  // RL.PEEK of the limiter's kind; where what writes was refused, a take of nothing, which writes as well.
  private Command probeCommand() {
    if (core.breaker().cause().filter(cause -> cause == Failure.NO_WRITES).isPresent()) {
      return command("RL.TAKE", lastKey, "COST", "0");
    }
    return command("RL.PEEK", lastKey);
  }

  private void probed(boolean answered) {
    boolean back;
    synchronized (this) {
      back = core.breaker().probed(nowMs(), answered);
    }
    if (back) {
      change(false, Optional.empty());
    }
  }

  /** A request with these limits. */
  Command command(String name, String key, String... options) {
    return command(name, key, List.of(options));
  }

  Command command(String name, String key, List<String> options) {
    List<String> all = new ArrayList<>(words.size() + options.size());
    all.addAll(words);
    all.addAll(options);
    return Command.of(name, key, all);
  }

  private static Throwable errorOf(List<Object> replies) {
    return replies.get(replies.size() - 1) instanceof Throwable error ? error : null;
  }

  /** When a call that begins now is over, with all that it sends before. */
  long endNs() {
    return System.nanoTime() + weir.options().deadlineNs();
  }

  /**
   * The replies, or null if weir does not answer by that end; the last one's error is raised if it is the program's.
   */
  CompletableFuture<List<Object>> ask(List<Command> commands, long endNs) {
    return new Attempts(commands, endNs, null).go(weir.options().attempts(), null);
  }

  /**
   * The same of a call that waits in weir; `sent` is told what can be cancelled.
   */
  CompletableFuture<List<Object>> ask(Command command, long endNs, Consumer<CompletableFuture<?>> sent) {
    return new Attempts(List.of(command), endNs, sent).go(weir.options().attempts(), null);
  }

  private final class Attempts {
    private final List<Command> commands;
    private final long endNs;
    private final Consumer<CompletableFuture<?>> sent; // null: it does not wait in weir

    Attempts(List<Command> commands, long endNs, Consumer<CompletableFuture<?>> sent) {
      this.commands = commands;
      this.endNs = endNs;
      this.sent = sent;
    }

    // `before` is how the last attempt failed, null at first: what was not sent for want of time has not failed.
    CompletableFuture<List<Object>> go(int left, Failure before) {
      long now = System.nanoTime();
      if (left == 0 || now - endNs >= 0) {
        if (before != null) {
          failed(before);
        }
        return CompletableFuture.completedFuture(null);
      }
      long until = sent != null ? endNs : now + (endNs - now) / left;
      CompletableFuture<List<Object>> sending = weir.transport().send(commands, until, sent != null);
      if (sent != null) {
        sent.accept(sending);
      }
      return sending.handle((replies, error) -> outcome(replies, error, sending.isCancelled(), left))
          .thenCompose(Function.identity());
    }

    private CompletableFuture<List<Object>> outcome(List<Object> replies, Throwable error, boolean isCancelled,
        int left) {
      Throwable found = error != null ? Failures.unwrap(error) : errorOf(replies);
      if (found == null) {
        replied();
        return CompletableFuture.completedFuture(replies);
      }
      Optional<Failure> failure = Failures.of(found);
      if (failure.isEmpty() && Failures.isReply(found)) {
        replied();
      }
      if (failure.isEmpty() || isCancelled) {
        return CompletableFuture.failedFuture(found);
      }
      return go(failure.get() == Failure.NO_WRITES ? 0 : left - 1, failure.get());
    }
  }

  /** Whether weir is asked, and what is handed back before. */
  Plan plan(String key) {
    Plan plan;
    synchronized (this) {
      lastKey = key;
      plan = core.plan(key, nowMs(), Engine::newId);
    }
    if (!plan.asks()) {
      probe();
    }
    return plan;
  }

  /** With SHADOW it charges what is there, and is never counted as a denial, which could ban the key. */
  Command handBackCommand(String key, HandBack back) {
    String cost = back.costs().toString();
    return back.costs().isOne() ? command("RL.TAKE", key, "COST", cost, "UPTO", "SHADOW", "ID", back.id())
        : command("RL.TAKE", key, "COST", cost, "SHADOW", "ID", back.id());
  }

  /** The verdict of a reply with FULL, and the mirror charged with what it grants. */
  Verdict learn(String key, Object reply, Cost cost) {
    Replies.Full full = Replies.full(reply, core.given(), cost);
    Verdict verdict = full.verdict();
    Cost granted = !verdict.allowed() ? new Cost(0) : cost.isOne() ? new Cost(verdict.granted()) : cost;
    synchronized (this) {
      asked++;
      core.answered(key, nowMs(), full.answer(granted));
    }
    return verdict;
  }

  Verdict peeked(Object reply, Cost cost) {
    return Replies.full(reply, core.given(), cost).verdict();
  }

  /** A verdict without weir. */
  Verdict decide(String key, Cost cost, boolean upTo, boolean charge) {
    double now = nowMs();
    Cost taken = cost;
    Decision decision;
    synchronized (this) {
      decidedHere += charge ? 1 : 0;
      decision = core.decide(key, cost, now, charge);
      long there = decision.deciding().map(view -> view.remaining()).orElse(0L);
      if (upTo && !decision.allowed() && there > 0) {
        taken = new Cost(Math.min(cost.most(), there));
        decision = core.decide(key, taken, now, charge);
      }
    }
    return Replies.decided(decision, source(), taken.most(), policy);
  }

  private Source source() {
    Away mode = core.mode();
    return mode == Away.OPEN ? Source.OPEN : mode == Away.CLOSED ? Source.CLOSED : Source.LOCAL;
  }

  /** A booking without weir; `maxWait` is null for however long. */
  Reservation book(String key, Cost cost, Duration maxWait) {
    double maxWaitMs = maxWait == null ? Double.POSITIVE_INFINITY
        : maxWait.getSeconds() * MS_PER_S + maxWait.getNano() / NS_PER_MS;
    Booking booking;
    synchronized (this) {
      decidedHere++;
      booking = core.book(key, cost, maxWaitMs, nowMs());
    }
    Verdict verdict = Replies.decided(booking.decision(), source(), cost.most(), policy);
    return new Reservation(booking.isBooked(), verdict.retryAfter(), OptionalLong.empty(), verdict.source());
  }

  /** weir has granted so much in an answer without FULL. */
  synchronized void note(String key, long granted) {
    asked++;
    core.answered(key, nowMs(), Answer.of(granted));
  }

  synchronized void charge(String key, Cost cost) {
    core.charge(key, cost, nowMs());
  }

  synchronized void giveBack(String key, long cost) {
    core.giveBack(key, cost, nowMs());
  }

  synchronized void handedBack(String key, HandBack back) {
    core.handedBack(key, back);
  }

  /** What the process' share gains in so much time, at most half of what it holds, of the narrowest limit. */
  synchronized long blockSize(long ns) {
    double share = core.share();
    return core.known().orElse(List.of()).stream()
        .mapToDouble(spec -> Math.min(spec.count() * ns / NS_PER_MS / spec.periodMs(), spec.capacity() / 2))
        .mapToLong(size -> (long) (share * size))
        .min().stream().map(size -> Math.max(1, size)).findFirst().orElse(1);
  }

  /** Its core, as a builder describes it. */
  static Core core(List<String> words, Away away, Double processes, int keysMax, String fallback) {
    List<Spec> specs = Limits.parse(words).orElse(null);
    Core core = new Core(specs, away, processes, keysMax, () -> ThreadLocalRandom.current().nextDouble());
    if (specs == null && fallback != null) {
      core.assume(Limits.parse(Limits.words(fallback)).orElse(null));
    }
    return core;
  }
}
