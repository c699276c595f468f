package weir;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import weir.core.Limits;

/**
 * Named policies, for users with {@code @ratelimitadmin}. Errors are raised: nothing of this is decided while weir is
 * away.
 */
public final class Policies {
  // Administration may take longer than a decision.
  private static final long NS = TimeUnit.SECONDS.toNanos(5);
  private final Transport transport;

  Policies(Transport transport) {
    this.transport = transport;
  }

  private Object call(List<String> words) {
    Command command = new Command("RL.POLICY", words, -1);
    Object reply = Weir.await(transport.send(List.of(command), System.nanoTime() + NS, false)).get(0);
    if (reply instanceof Throwable error) {
      throw Failures.thrown(error);
    }
    return reply;
  }

  /**
   * Makes or changes a policy.
   *
   * @param name of the policy
   * @param limits as in RL.TAKE; may end in SHADOW, PERCENT and ONCHANGE
   */
  public void set(String name, String limits) {
    List<String> words = new ArrayList<>(List.of("SET", name));
    words.addAll(Limits.words(limits));
    call(words);
  }

  /**
   * A policy as it stands.
   *
   * @param name of the policy
   * @return limits, onchange and version; nothing if there is none
   */
  public Optional<Map<String, Object>> get(String name) {
    return Optional.ofNullable(call(List.of("GET", name))).map(Replies::map);
  }

  /**
   * Ends a policy.
   *
   * @param name of the policy
   */
  public void delete(String name) {
    call(List.of("DEL", name));
  }

  /**
   * All policies.
   *
   * @return their names
   */
  public List<String> list() {
    return ((List<?>) call(List.of("LIST"))).stream().map(String.class::cast).toList();
  }
}
