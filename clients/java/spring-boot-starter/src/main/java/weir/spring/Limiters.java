package weir.spring;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import weir.Observer;
import weir.Weir;
import weir.WeirLimiter;

/** A limiter for each text of limits, with what the properties say about times when weir is away. */
public final class Limiters {
  private final Weir weir;
  private final WeirProperties properties;
  private final Observer observer;
  private final Map<String, WeirLimiter> made = new ConcurrentHashMap<>();

  /**
   * Of the properties.
   *
   * @param weir that limiters share
   * @param properties of the application
   */
  public Limiters(Weir weir, WeirProperties properties) {
    this(weir, properties, null);
  }

  /**
   * Of the properties.
   *
   * @param weir that limiters share
   * @param properties of the application
   * @param observer who is told of calls; null for nobody
   */
  public Limiters(Weir weir, WeirProperties properties, Observer observer) {
    this.observer = observer;
    this.weir = weir;
    this.properties = properties;
  }

  /**
   * The limiter of these limits, always the same.
   *
   * @param limits as in RL.TAKE
   * @return the limiter
   */
  public WeirLimiter of(String limits) {
    return made.computeIfAbsent(limits, this::make);
  }

  private WeirLimiter make(String limits) {
    WeirLimiter.Builder builder = weir.limiter(limits).away(properties.away()).fallback(properties.fallback())
        .observer(observer);
    if (properties.processes() != null) {
      builder.processes(properties.processes());
    }
    return builder.build();
  }
}
