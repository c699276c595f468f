package weir.spring;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import weir.Observer;
import weir.telemetry.Telemetry;

/** With weir-opentelemetry: spans and metrics of all limiters, to the application's OpenTelemetry, else the global one. */
@AutoConfiguration
@ConditionalOnClass(Telemetry.class)
public class WeirTelemetryAutoConfiguration {
  @Bean
  @ConditionalOnMissingBean
  Observer weirObserver(ObjectProvider<OpenTelemetry> to, @Value("${spring.application.name:weir}") String name) {
    return new Telemetry(name, to.getIfAvailable(GlobalOpenTelemetry::getOrNoop));
  }
}
