# One image for API and workers: `api` is what it does by default, `worker` the other command.

# The manifests alone: what follows from them is kept as long as they are the same, whatever else was edited.
FROM node:22-bookworm-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json ./
COPY apps apps
COPY packages packages
RUN find apps packages \( -type f ! -name package.json -o -type d -empty \) -delete

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY --from=manifests /app ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:22-bookworm-slim
ENV NODE_ENV=production \
    CREWBOARD_HOST=0.0.0.0 \
    CREWBOARD_DATA_DIR=/data \
    CREWBOARD_WORKSPACES=/workspaces
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap git tini \
 && rm -rf /var/lib/apt/lists/* \
 && mkdir -p /data /workspaces \
 && chown node:node /data /workspaces
WORKDIR /app
COPY --from=build /app ./
USER node
EXPOSE 7420
VOLUME ["/data"]
# tini takes the signals of process 1 and the children that nobody waits for.
ENTRYPOINT ["tini", "--", "node", "apps/cli/dist/main.js"]
CMD ["api"]
