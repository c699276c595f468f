package weir;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The answer to a take from several keys.
 *
 * @param allowed whether all grant
 * @param index of the deciding key; -1 if all grant
 * @param each what each key says; where a cluster was asked key by key, up to the one that denies
 */
public record Verdicts(boolean allowed, int index, List<Verdict> each) {
  /**
   * Until the same request succeeds.
   *
   * @return zero when allowed, nothing if it never does
   */
  public Optional<Duration> retryAfter() {
    return index < 0 ? Optional.of(Duration.ZERO) : each.get(index).retryAfter();
  }

  /**
   * Fields of the deciding key; of the one with the least left if all grant.
   *
   * @return fields of an HTTP response
   */
  public Map<String, String> headers() {
    return (index < 0 ? each.stream().min(Comparator.comparing(Verdict::remaining)).get() : each.get(index)).headers();
  }
}
