package weir.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import weir.Observer;
import weir.Weir;
import weir.WeirBuilder;
import weir.web.Gate;
import weir.web.Key;
import weir.web.Keys;

/** Weir, limiters, and whom a request is counted for, each unless the application has its own. */
@AutoConfiguration
@EnableConfigurationProperties(WeirProperties.class)
public class WeirAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  Weir weir(WeirProperties properties) {
    WeirBuilder builder = Weir.builder(properties.uri()).deadline(properties.deadline());
    return (properties.cluster() ? builder.cluster() : builder).build();
  }

  @Bean
  @ConditionalOnMissingBean
  Limiters weirLimiters(Weir weir, WeirProperties properties, ObjectProvider<Observer> observer) {
    return new Limiters(weir, properties, observer.getIfAvailable());
  }

  @Bean
  @ConditionalOnMissingBean
  Key weirKey(WeirProperties properties) {
    Key key = Keys.byAddress(properties.trustedProxies().toArray(String[]::new));
    if (properties.keyHeader() != null) {
      key = Keys.byHeader(properties.keyHeader(), key);
    }
    return properties.byUser() ? Keys.byUser(key) : key;
  }

  @Bean
  @ConditionalOnMissingBean
  Gate weirGate(WeirProperties properties, Key key) {
    return Gate.byAddress().withKey(key).withPrefix(properties.prefix()).withLegacy(properties.legacy())
        .withSkip(caller -> properties.skipPaths().stream().anyMatch(caller.path()::startsWith));
  }
}
