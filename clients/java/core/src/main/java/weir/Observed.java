package weir;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** Calls, with an observer around them. */
final class Observed {
  private Observed() {}

  static CompletableFuture<Verdict> verdict(Engine engine, String call, String key,
      Supplier<CompletableFuture<Verdict>> work) {
    return call(engine, call, key, work, Outcome::of);
  }

  static <T> CompletableFuture<T> call(Engine engine, String call, String key, Supplier<CompletableFuture<T>> work,
      Function<T, Outcome> outcome) {
    if (engine.observer == null) {
      return work.get();
    }
    Observer.Call told = engine.observer.calling(call, key);
    CompletableFuture<T> made;
    try (Observer.Scope beginning = told.begin()) {
      made = work.get();
    } catch (RuntimeException error) {
      told.failed(error);
      throw error;
    }
    CompletableFuture<T> answered = new CompletableFuture<>();
    made.whenComplete((value, error) -> {
      try {
        end(told, error, () -> outcome.apply(value));
      } catch (RuntimeException fault) {
        answered.completeExceptionally(fault);
      }
      if (error == null) {
        answered.complete(value);
      } else {
        answered.completeExceptionally(error);
      }
    });
    answered.whenComplete((value, error) -> {
      if (answered.isCancelled()) { // who waits gives up its turn
        made.cancel(true);
      }
    });
    return answered;
  }

  private static void end(Observer.Call told, Throwable error, Supplier<Outcome> outcome) {
    if (error == null) {
      told.answered(outcome.get());
    } else {
      told.failed(Failures.unwrap(error));
    }
  }
}
