#!/usr/bin/env bash
# Pages as people see them, in Chromium with the network off; `make browser` runs this with its Python.
# Chromium is Debian's, installed where it is missing and may be; Playwright's own browser is never downloaded.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-.venv/bin/python}
if ! command -v chromium >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
fi
export IRISDP_BROWSER=1 PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
"$python" -m pytest -n 0 -ra tests/browser
