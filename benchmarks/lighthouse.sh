#!/bin/sh
# Lighthouse over the pages at the top of a built site, as a slow phone sees them (its default mobile profile:
# 150 ms round trips, 1.6 Mbit/s, a processor four times slower). Fails below 100 in any category.
#
#   npm install --no-save lighthouse    # once, anywhere; or have `lighthouse` on the PATH
#   benchmarks/lighthouse.sh SITE [PAGE...]
#
# SITE is a folder that `triathlon build` wrote. LIGHTHOUSE names the program, CHROME_PATH the browser.
# It is no part of `make test`: Lighthouse is not a dependency of this project, and its figures are timings.
set -eu
site=${1:?expected the folder of a built site}
shift
[ $# -gt 0 ] || set -- $(cd "$site" && ls -- *.html)
lighthouse=${LIGHTHOUSE:-lighthouse}
command -v "$lighthouse" >/dev/null || {
    echo "no $lighthouse: npm install lighthouse, then LIGHTHOUSE=node_modules/.bin/lighthouse" >&2
    exit 2
}
reports=$(mktemp -d)
triathlon serve --out "$site" --port 0 >"$reports/address" &
server=$!
trap 'kill $server; rm -rf "$reports"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s "$reports/address" ] && break
    sleep 0.5
done
address=$(cut -d' ' -f1 "$reports/address")
low=0
for page in "$@"; do
    "$lighthouse" "$address$page" --quiet --output=json --output-path="$reports/report.json" \
        --chrome-flags="--headless=new --no-sandbox"
    python3 - "$page" "$reports/report.json" <<'PY' || low=1
import json, sys
report = json.load(open(sys.argv[2]))
scores = {name: round(100 * (one["score"] or 0)) for name, one in report["categories"].items()}
paint = report["audits"]["largest-contentful-paint"]["numericValue"] / 1000
print(sys.argv[1], *(f"{name} {score}" for name, score in scores.items()), f"largest paint {paint:.2f} s")
for name, one in report["categories"].items():
    for audit in one["auditRefs"]:
        found = report["audits"][audit["id"]]
        if audit["weight"] and found["score"] is not None and found["score"] < 0.9:
            print("   ", name, found["id"], found.get("displayValue", ""))
sys.exit(min(scores.values()) < 100)
PY
done
exit $low
