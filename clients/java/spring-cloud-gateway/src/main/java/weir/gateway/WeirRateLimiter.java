package weir.gateway;

import java.util.HashMap;
import java.util.Map;
import org.springframework.cloud.gateway.filter.ratelimit.AbstractRateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import reactor.core.publisher.Mono;
import weir.Take;
import weir.Verdict;
import weir.spring.Limiters;

/**
 * The RateLimiter of the filter RequestRateLimiter; its arguments are {@code weir-rate-limiter.limits}, {@code .cost}
 * and {@code .legacy}. A denial is 429 with the fields and without a body, as the filter has it.
 */
public final class WeirRateLimiter extends AbstractRateLimiter<WeirRateLimiter.Config> {
  private static final String NAME = "weir-rate-limiter";
  private final Limiters limiters;
  private final Config otherwise;

  /**
   * Of the application's limiters.
   *
   * @param limiters of the application
   * @param otherwise for routes without arguments
   * @param configurations of the gateway
   */
  public WeirRateLimiter(Limiters limiters, Config otherwise, ConfigurationService configurations) {
    super(Config.class, NAME, configurations);
    this.limiters = limiters;
    this.otherwise = otherwise;
  }

  @Override
  public Mono<Response> isAllowed(String routeId, String id) {
    Config config = getConfig().getOrDefault(routeId, otherwise);
    if (config.limits == null) {
      return Mono.error(new IllegalStateException(
          "route " + routeId + " has no " + NAME + ".limits, nor is there weir.limits"));
    }
    Take take = Take.from("gateway:" + routeId + ":" + id).cost(config.cost);
    return Mono.fromFuture(() -> limiters.of(config.limits).takeAsync(take)).map(verdict -> response(verdict, config));
  }

  private static Response response(Verdict verdict, Config config) {
    Map<String, String> fields = config.legacy ? verdict.headersWithLegacy() : verdict.headers();
    return new Response(verdict.allowed(), new HashMap<>(fields));
  }

  /** The arguments of a route. */
  public static final class Config {
    private String limits;
    private long cost = 1;
    private boolean legacy;

    /** Without limits, at a cost of 1. */
    public Config() {}

    /**
     * The limits.
     *
     * @return as in RL.TAKE
     */
    public String getLimits() {
      return limits;
    }

    /**
     * Sets the limits.
     *
     * @param text as in RL.TAKE
     * @return this
     */
    public Config setLimits(String text) {
      limits = text;
      return this;
    }

    /**
     * Permits of a request.
     *
     * @return a number
     */
    public long getCost() {
      return cost;
    }

    /**
     * Sets the permits of a request.
     *
     * @param permits a number
     * @return this
     */
    public Config setCost(long permits) {
      cost = permits;
      return this;
    }

    /**
     * Whether there are X-RateLimit fields too.
     *
     * @return true if they are there
     */
    public boolean isLegacy() {
      return legacy;
    }

    /**
     * Sets whether there are X-RateLimit fields too.
     *
     * @param isThere true if they are there
     * @return this
     */
    public Config setLegacy(boolean isThere) {
      legacy = isThere;
      return this;
    }
  }
}
