# The image of `muster serve`: Node and the compiled program, no shell, no package manager, no root.
#
#   docker build -t muster:dev --build-arg VERSION=$(node -p "require('./package.json').version") \
#     --build-arg COMMIT=$(git rev-parse HEAD) --build-arg SOURCE_DATE_EPOCH=$(git show -s --format=%ct) .
#
# `npm run image` makes the same without Docker, over a base of its own.
#
# For a release pin both images by digest: --build-arg BUILD_IMAGE=...@sha256:... --build-arg RUNTIME_IMAGE=...

ARG BUILD_IMAGE=docker.io/library/node:26-slim
# Node 26 is linked against libatomic, which the images made for copying a bare `node` into (distroless/cc, most slim
# ones) do not have. This one is made for Node.
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs26-debian13:nonroot

FROM ${BUILD_IMAGE} AS build
WORKDIR /app
# The lockfile first: as long as it stays, so does this layer.
COPY package.json package-lock.json .npmrc ./
# Nothing that is needed here has an install script, so none gets to run.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY manifests ./manifests
RUN npm run build
# `muster version` and the log's first line name it.
ARG COMMIT='' SOURCE_DATE_EPOCH=''
RUN echo "$COMMIT $SOURCE_DATE_EPOCH" > dist/BUILD
COPY LICENSE ./
COPY release/image ./release/image
# What the program reads, and of its packages only what it loads: `npm run image` takes the same files.
RUN node release/image/application.ts dist /image

FROM ${RUNTIME_IMAGE}
WORKDIR /app
ENV NODE_ENV=production
# One heap for all threads, and what is larger than 128 KiB beside it: glibc would keep what was freed, since it divides it
# among the threads and raises that limit.
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_MMAP_THRESHOLD_=131072
# No session tickets, which nobody could use: Muster resumes no session.
ENV OPENSSL_CONF=/app/openssl.cnf
COPY --from=build /image ./
# By number: runAsNonRoot cannot judge a name.
USER 65532:65532
# Webhooks, health, metrics.
EXPOSE 9443 8081 8080
# Node itself is the first process, so SIGTERM reaches the drain without a shell in between. The flags fit V8 to a program
# of which nearly everything that it reads is garbage a moment later (docs/benchmarks.md). The first gives the young generation
# 8 MiB: with less V8 copies more of what reviews leave, with more it pauses longer beside many connections (ADR 58). The
# second has the old one collected earlier, since garbage would grow to several times of what is in use; the third keeps the
# bodies of large reviews, which lie outside of V8's heap, from asking for a whole collection every few reviews. The fourth
# gives V8 as many helping threads as the container has cores to spare, at least one, where it would have four: on one core
# they would take four fifths of it from the reviews for as long as they collect.
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=8", "--heap-growing-percent=60", "--external-memory-accounted-in-global-limit", "--v8-pool-size=0", "/app/dist/src/main.js"]
CMD ["serve", "--help"]
ARG VERSION=''
ARG COMMIT=''
LABEL org.opencontainers.image.title="muster" org.opencontainers.image.licenses="Apache-2.0"
LABEL org.opencontainers.image.version="$VERSION" org.opencontainers.image.revision="$COMMIT"
