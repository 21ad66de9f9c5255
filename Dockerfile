# One image for both roles: `serve` (the API, the default) and `work --health-listen 0.0.0.0:8080` (the workers).

FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY workers ./workers
RUN npm run build

FROM node:22-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:22-slim
ENV NODE_ENV=production HEADGATE_CONFIG=/etc/headgate/headgate.yaml
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json headgate.yaml ./
COPY bin ./bin
COPY lua ./lua
COPY src/dashboard/public ./src/dashboard/public
COPY docker/headgate.yaml /etc/headgate/headgate.yaml
# Nothing is written but to /tmp, so the root may be read-only.
USER node
EXPOSE 8080
# Both roles answer there.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/headgate.js"]
CMD ["serve"]
