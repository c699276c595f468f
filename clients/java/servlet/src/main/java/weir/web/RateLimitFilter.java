package weir.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import weir.WeirLimiter;

/** A filter of servlets: fields of RateLimit on each answer, 429 for what is too much. */
public final class RateLimitFilter implements Filter {
  private final ServletGate gate;

  /**
   * Of a limiter.
   *
   * @param limiter that decides
   * @param gate which requests are counted, and for whom
   */
  public RateLimitFilter(WeirLimiter limiter, Gate gate) {
    this.gate = new ServletGate(limiter, gate);
  }

  @Override
  public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    boolean isCounted = request.getDispatcherType() == DispatcherType.REQUEST
        && request instanceof HttpServletRequest && response instanceof HttpServletResponse;
    if (!isCounted || gate.letsThrough((HttpServletRequest) request, (HttpServletResponse) response)) {
      chain.doFilter(request, response);
    }
  }
}
