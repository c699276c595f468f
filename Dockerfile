# The image of weir-server: two stages, so that the second holds no compiler.
#
#   docker build -t weir --build-arg WEIR_REVISION="$(git rev-parse HEAD)" .
#   docker run -p 6379:6379 -v weir-data:/data weir --requirepass SECRET
#
# Arguments after the image's name are options of the server and win over those in ENTRYPOINT. For
# a configuration file of your own:
#   docker run -v ./weir.conf:/etc/weir.conf:ro --entrypoint weir-server weir /etc/weir.conf

FROM debian:12-slim AS build
WORKDIR /src
# Packages first: this layer is made again only when the list of packages changes.
COPY tools/install-deps tools/install-deps
RUN tools/install-deps build
COPY CMakeLists.txt CMakePresets.json ./
COPY base base
COPY algorithms algorithms
COPY resp resp
COPY storage storage
COPY server server
COPY tools tools
# The commit is part of the version, and git is not here to ask.
ARG WEIR_REVISION=unknown
RUN tools/build release weir-server \
    && strip -o /usr/local/bin/weir-server build/release/weir-server

FROM debian:12-slim
ARG WEIR_REVISION=unknown
LABEL org.opencontainers.image.title="weir" \
      org.opencontainers.image.description="A rate limiter that speaks the Redis protocol" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$WEIR_REVISION"
RUN apt-get update \
    && apt-get install -y --no-install-recommends curl librocksdb7.8 libspdlog1.10 libfmt9 libsystemd0 libssl3 libpq5 libnats3.4 libnghttp2-14 libdate-tz3 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 999 --user-group --home-dir /data --shell /usr/sbin/nologin weir \
    && install -d -o weir -g weir -m 750 /data
COPY --from=build /usr/local/bin/weir-server /usr/local/bin/weir-server
COPY tools/healthcheck /usr/local/bin/weir-healthcheck
COPY LICENSE weir.conf /usr/local/share/weir/
USER weir
WORKDIR /data
VOLUME /data
EXPOSE 6379

# A container's own loopback is closed to its peers and to published ports, so the server listens on
# every address here. What then keeps strangers out is protected mode, which stays on: without a
# password only clients inside the container are served, and others are told why. Give a password
# (--requirepass), or --protected-mode no where the network itself is trusted.
# metrics-port is open inside the container alone, for the check below.
ENTRYPOINT ["weir-server", "--dir", "/data", "--bind", "0.0.0.0", "-::*", "--metrics-port", "9121"]

# The check speaks HTTP or the protocol through bash, which the base image has, so that the image needs no client. It
# asks metrics-port, also where --port is 0 and clients come over TLS; where nobody listens there, port 6379. Set
# WEIR_METRICS_PORT or WEIR_PORT with other ports.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["weir-healthcheck"]
