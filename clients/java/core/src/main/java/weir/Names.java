package weir;

import io.netty.resolver.AddressResolver;
import io.netty.resolver.AddressResolverGroup;
import io.netty.resolver.InetNameResolver;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Looks up addresses of hosts by Java's own means, but not on the threads of connections: what hangs there would hold
 * up all that they carry. Each name is looked up once at a time, however many wait for it.
 */
final class Names extends AddressResolverGroup<InetSocketAddress> {
  /** As InetAddress.getAllByName(). */
  interface Lookup {
    InetAddress[] of(String host) throws UnknownHostException;
  }

  private final Lookup lookup;
  private final Map<String, CompletableFuture<List<InetAddress>>> pending = new ConcurrentHashMap<>();

  Names(Lookup lookup) {
    this.lookup = lookup;
  }

  private CompletableFuture<List<InetAddress>> lookUp(String host) {
    CompletableFuture<List<InetAddress>> found =
        pending.computeIfAbsent(host, name -> CompletableFuture.supplyAsync(() -> addresses(name), Aside.THREADS));
    return found.whenComplete((addresses, error) -> pending.remove(host, found));
  }

  private List<InetAddress> addresses(String host) {
    try {
      return List.of(lookup.of(host));
    } catch (UnknownHostException error) {
      throw new CompletionException(error);
    }
  }

  private static <T> void tell(EventExecutor executor, Promise<T> promise, T value, Throwable error) {
    if (executor.isShuttingDown()) {
      return; // nobody waits for it any more
    }
    if (error != null) {
      promise.tryFailure(Failures.unwrap(error));
    } else {
      promise.trySuccess(value);
    }
  }

  @Override
  protected AddressResolver<InetSocketAddress> newResolver(EventExecutor executor) {
    return new InetNameResolver(executor) {
      @Override
      protected void doResolve(String host, Promise<InetAddress> promise) {
        lookUp(host).whenComplete((all, error) -> tell(executor, promise, error == null ? all.get(0) : null, error));
      }

      @Override
      protected void doResolveAll(String host, Promise<List<InetAddress>> promise) {
        lookUp(host).whenComplete((all, error) -> tell(executor, promise, all, error));
      }
    }.asAddressResolver();
  }
}
