package weir.gateway;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.cloud.gateway.filter.ratelimit.RateLimiter;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.annotation.Bean;
import weir.spring.Limiters;
import weir.spring.WeirAutoConfiguration;
import weir.spring.WeirProperties;
import weir.web.Key;

/** weir as the gateway's RateLimiter, and the application's key as its KeyResolver, unless it has its own. */
@AutoConfiguration(after = WeirAutoConfiguration.class,
    beforeName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnProperty(name = "spring.cloud.gateway.server.webflux.enabled", matchIfMissing = true)
public class WeirGatewayAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean(RateLimiter.class)
  WeirRateLimiter weirRateLimiter(Limiters limiters, WeirProperties properties, ConfigurationService configurations) {
    WeirRateLimiter.Config otherwise =
        new WeirRateLimiter.Config().setLimits(properties.limits()).setLegacy(properties.legacy());
    return new WeirRateLimiter(limiters, otherwise, configurations);
  }

  @Bean
  @ConditionalOnMissingBean(KeyResolver.class)
  KeyResolver weirKeyResolver(Key key) {
    return new ExchangeKey(key);
  }
}
