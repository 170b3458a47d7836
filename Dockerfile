# hourfold in a container, by the scripts that the tests run.
#
#   docker build -t hourfold .
#   docker run -v $PWD/hbase.json:/etc/hourfold/hourfold.json:ro -v hourfold-state:/var/lib/hourfold -p 9464:9464 hourfold
#
# The configuration is /etc/hourfold/hourfold.json; examples lie beside it. Keep state.dir below /var/lib/hourfold, the working directory.

FROM debian:12 AS build
WORKDIR /src
# Packages first: they change less often than the code.
COPY scripts scripts
RUN scripts/bootstrap --deps-only --no-tests
COPY . .
RUN scripts/bootstrap --no-tests --no-install && strip build/release/hourfold

FROM debian:12-slim
WORKDIR /src
COPY scripts scripts
COPY configs configs
COPY --from=build /src/build/release/hourfold build/release/hourfold
RUN scripts/install-runtime && rm -rf /src /var/lib/apt/lists/*

USER hourfold
WORKDIR /var/lib/hourfold
VOLUME /var/lib/hourfold
EXPOSE 9464
HEALTHCHECK --interval=15s --timeout=6s --start-period=60s CMD ["hourfold-healthcheck"]
# SIGTERM drains, checkpoints and commits; give it the time: docker stop --time 60.
STOPSIGNAL SIGTERM
ENTRYPOINT ["hourfold"]
# /metrics must be reachable from outside the container.
CMD ["run", "-c", "/etc/hourfold/hourfold.json", "--set", "http.listen=0.0.0.0:9464"]
