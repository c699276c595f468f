package weir.spring;

import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import weir.core.Away;

/**
 * The properties {@code weir.*}.
 *
 * @param uri where weir is, as Lettuce takes it
 * @param cluster whether that is a member of a cluster
 * @param deadline after which a request has its verdict, whatever happens
 * @param limits as in RL.TAKE, of a filter for all requests; there is none where it is left out
 * @param away what is decided while weir is away
 * @param processes how many processes use these limits; null: what weir tells counts, or 1
 * @param fallback of a policy: its limits until weir has told them
 * @param trustedProxies the proxies in front, as addresses or networks
 * @param keyHeader a header by whose value requests are counted, before the address
 * @param byUser whether requests of those who have logged in are counted for them
 * @param skipPaths requests whose path begins so are not counted
 * @param prefix before each key in weir
 * @param legacy whether there are X-RateLimit fields too
 * @param order of the filter; low is early
 */
@ConfigurationProperties("weir")
public record WeirProperties(@DefaultValue("redis://127.0.0.1:6379") String uri, @DefaultValue("false") boolean cluster,
    @DefaultValue("100ms") Duration deadline, String limits, @DefaultValue("local") Away away, Double processes,
    String fallback, @DefaultValue List<String> trustedProxies, String keyHeader, @DefaultValue("false") boolean byUser,
    @DefaultValue List<String> skipPaths, @DefaultValue("http:") String prefix, @DefaultValue("false") boolean legacy,
    @DefaultValue("0") int order) {}
