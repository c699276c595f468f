package weir.gateway;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.springframework.cloud.gateway.filter.ratelimit.KeyResolver;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import weir.web.Caller;
import weir.web.Key;

/** A key of weir.web as the KeyResolver of the gateway. */
final class ExchangeKey implements KeyResolver {
  private final Key key;

  ExchangeKey(Key key) {
    this.key = key;
  }

  @Override
  public Mono<String> resolve(ServerWebExchange exchange) {
    return exchange.getPrincipal().map(principal -> Optional.of(principal.getName()))
        .defaultIfEmpty(Optional.empty()).map(user -> key.of(caller(exchange, user)));
  }

  private static Caller caller(ServerWebExchange exchange, Optional<String> user) {
    ServerHttpRequest request = exchange.getRequest();
    InetAddress peer = request.getRemoteAddress() == null ? null : request.getRemoteAddress().getAddress();
    return new Caller(peer == null ? null : peer.getHostAddress(), name -> {
      List<String> lines = request.getHeaders().getValuesAsList(name);
      return lines.isEmpty() ? null : String.join(", ", lines);
    }, request.getMethod().name(), request.getPath().value(), user, exchange);
  }
}
