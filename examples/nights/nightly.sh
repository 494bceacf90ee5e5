#!/bin/sh
# Publish a plan, and act on its exit status: irisdp prints one JSON document at every status.
#
#   nightly.sh FOLDER [ALERT]    FOLDER holds plan.toml; ALERT: complain when less ε than this is left

set -u
cd "$1" || exit 2
alert=${2:-0}
tries=3

while :; do
    irisdp run plan.toml --json --log-file nights.jsonl >last.json 2>last.err
    status=$?
    case $status in
    0) break ;;
    3 | 4 | 130) # charged and not written, out of reach, stopped: asking again costs nothing
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || break
        sleep "${NIGHTLY_PAUSE:-60}"
        ;;
    *) break ;; # 1: refused, 2: bad input. Trying again would end the same way
    esac
done

if [ "$status" -ne 0 ]; then
    cat last.err >&2 # cron sends this to MAILTO
    exit "$status"
fi

# Numbers for the text-file collector of Prometheus' node exporter; renamed, so that nobody reads half a file.
irisdp ledger study.ledger --metrics >metrics.prom.new && mv metrics.prom.new metrics.prom

if [ "$alert" != 0 ]; then
    irisdp ledger study.ledger --fail-below "$alert" >/dev/null || exit 1
fi
