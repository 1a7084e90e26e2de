#!/bin/bash
# A crawler of curl and jq: `recrawl serve --schedule` says which page to fetch now, and learns what came.
#
#   export RECRAWL_TOKEN=$(openssl rand -hex 16)
#   recrawl serve --schedule &
#   examples/curl_crawler.sh http://127.0.0.1:8117
#
# Ends when nothing has been due for $PATIENCE seconds (20). Reading robots.txt is left to you.
set -euo pipefail

api=${1:-http://127.0.0.1:8117}/api/v1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

call() { # METHOD PATH [CURL'S OPTIONS...]
    curl -sS --fail-with-body -X "$1" -H "Authorization: Bearer $RECRAWL_TOKEN" "${@:3}" "$api$2"
}

while page=$(call POST "/due?limit=1&lease_seconds=120&wait=${PATIENCE:-20}" | jq -e '.pages[0]'); do
    lease=$(jq -r .lease <<<"$page") address=$(jq -r .address <<<"$page")

    # The headers make the request conditional: an unchanged page is answered 304, without a body.
    jq -r '.headers | to_entries[] | "\(.key): \(.value)"' <<<"$page" >"$folder/ask"
    : >"$folder/head" >"$folder/body"
    status=$(curl -sS --max-time 60 --max-filesize 5M -H "@$folder/ask" -D "$folder/head" \
        -o "$folder/body" -w '%{http_code}' "$address") || status=failed

    if [[ $status == failed ]]; then
        report=$(jq -n --arg lease "$lease" '{lease: $lease, outcome: "failed"}')
    else
        # Header lines "Name: value" become an object.
        headers=$(tr -d '\r' <"$folder/head" | jq -Rn '[inputs | capture("^(?<key>[^: ]+): *(?<value>.*)$")] | from_entries')
        base64 -w0 "$folder/body" >"$folder/base64"
        report=$(jq -n --arg lease "$lease" --argjson status "$status" --argjson headers "$headers" \
            --rawfile body "$folder/base64" \
            '{lease: $lease, status: $status, headers: $headers, body_base64: $body}')
    fi

    # The key makes it safe to send the report again, should no answer come.
    jq -n --argjson visit "$report" '{visits: [$visit]}' |
        call POST /visits -H 'Content-Type: application/json' -H "Idempotency-Key: $lease" \
            --retry 3 --retry-all-errors --data-binary @- |
        jq -r --arg address "$address" '"\(.visits[0].outcome // .visits[0].problem) \($address)"'
done
