package weir.spring;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import weir.web.Gate;
import weir.web.RateLimitFilter;

/** The filter of applications on servlets, if {@code weir.limits} is there, and {@link RateLimited}. */
@AutoConfiguration(after = WeirAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass(Filter.class)
public class WeirServletAutoConfiguration {
  private record OrderedFilter(Filter filter, int order) implements Filter, Ordered {
    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      filter.doFilter(request, response, chain);
    }

    @Override
    public int getOrder() {
      return order;
    }
  }

  @Bean
  @ConditionalOnProperty("weir.limits")
  Filter weirFilter(Limiters limiters, WeirProperties properties, Gate gate) {
    return new OrderedFilter(new RateLimitFilter(limiters.of(properties.limits()), gate), properties.order());
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(WebMvcConfigurer.class)
  static class Handlers {
    @Bean
    WebMvcConfigurer weirHandlers(Limiters limiters, Gate gate) {
      return new WebMvcConfigurer() {
        @Override
        public void addInterceptors(InterceptorRegistry registry) {
          registry.addInterceptor(new RateLimitedHandlers(limiters, gate));
        }
      };
    }
  }
}
