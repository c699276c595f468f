package weir.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import weir.Take;
import weir.Verdict;
import weir.WeirLimiter;

/** Lets requests of a servlet through, or answers them 429. Safe for threads. */
public final class ServletGate {
  private final WeirLimiter limiter;
  private final Gate gate;

  /**
   * Of a limiter.
   *
   * @param limiter that decides
   * @param gate which requests are counted, and for whom
   */
  public ServletGate(WeirLimiter limiter, Gate gate) {
    this.limiter = limiter;
    this.gate = gate;
  }

  /**
   * Writes the fields; of a denial the whole answer.
   *
   * @param request of the servlet
   * @param response of the servlet
   * @return whether the request goes on
   * @throws IOException if the answer cannot be written
   */
  public boolean letsThrough(HttpServletRequest request, HttpServletResponse response) throws IOException {
    Caller caller = caller(request);
    if (gate.skip().test(caller)) {
      return true;
    }
    long cost = gate.cost().applyAsLong(caller);
    Verdict verdict = limiter.take(Take.from(gate.prefix() + gate.key().of(caller)).cost(cost));
    gate.headers(verdict).forEach(response::setHeader);
    if (verdict.allowed()) {
      return true;
    }
    byte[] body = Problem.of(verdict, cost).getBytes(StandardCharsets.UTF_8);
    response.setStatus(Problem.STATUS);
    response.setContentType(Problem.TYPE);
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
    return false;
  }

  private static Caller caller(HttpServletRequest request) {
    return new Caller(request.getRemoteAddr(), name -> header(request, name), request.getMethod(),
        request.getRequestURI(), Optional.ofNullable(request.getRemoteUser()), request);
  }

  private static String header(HttpServletRequest request, String name) {
    List<String> lines = Collections.list(request.getHeaders(name));
    return lines.isEmpty() ? null : String.join(", ", lines);
  }
}
