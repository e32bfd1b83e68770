# The image of `planner`, compiled from this folder:
#   docker build --tag prospector .
# Other connectors are Cargo features: --build-arg FEATURES=full
# The image of a release is the second stage alone, over a program that is built already: packages/image.py.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache build-base ca-certificates cmake linux-headers perl python3
WORKDIR /source
COPY . .
ARG FEATURES=""
# Alpine's toolchain links musl statically, so the program needs no library.
RUN cargo build --release --locked --bin planner --features "$FEATURES" \
    && python3 packages/image.py target/release/planner / \
    && rm -rf target

FROM scratch
COPY --from=build /image/root/ /
COPY --from=build --chown=65532:65532 /image/own/ /
ENV HOME=/state \
    PATH=/usr/bin \
    PROSPECTOR_CATALOG=/catalog/catalog.yaml \
    PROSPECTOR_STATE=/state \
    SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
WORKDIR /catalog
VOLUME /state
EXPOSE 7474
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/usr/bin/planner", "health"]
ENTRYPOINT ["/usr/bin/planner"]
# Needs PROSPECTOR_TOKEN. An MCP client starts the container with `mcp` instead.
CMD ["serve", "--listen", "0.0.0.0:7474"]
