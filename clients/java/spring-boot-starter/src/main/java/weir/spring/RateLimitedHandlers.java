package weir.spring;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import weir.web.Gate;
import weir.web.ServletGate;

/** Asks before each handler that is {@link RateLimited}. */
final class RateLimitedHandlers implements HandlerInterceptor {
  private final Limiters limiters;
  private final Gate gate;
  private final Map<Method, Optional<ServletGate>> gates = new ConcurrentHashMap<>();

  RateLimitedHandlers(Limiters limiters, Gate gate) {
    this.limiters = limiters;
    this.gate = gate;
  }

  @Override
  public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
      throws IOException {
    if (!(handler instanceof HandlerMethod method) || request.getDispatcherType() != DispatcherType.REQUEST) {
      return true;
    }
    Optional<ServletGate> found = gates.computeIfAbsent(method.getMethod(), any -> gate(method));
    return found.isEmpty() || found.get().letsThrough(request, response);
  }

  private Optional<ServletGate> gate(HandlerMethod method) {
    RateLimited own = method.getMethodAnnotation(RateLimited.class);
    RateLimited limited = own != null ? own
        : AnnotatedElementUtils.findMergedAnnotation(method.getBeanType(), RateLimited.class);
    if (limited == null) {
      return Optional.empty();
    }
    String handler = method.getBeanType().getSimpleName() + (own != null ? "." + method.getMethod().getName() : "");
    String name = limited.name().isEmpty() ? handler : limited.name();
    return Optional.of(new ServletGate(limiters.of(limited.value()),
        gate.withPrefix(gate.prefix() + name + ":").withCost(caller -> limited.cost())));
  }
}
