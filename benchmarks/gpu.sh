#!/usr/bin/env bash
# The whole visit to a card in one command of under ten minutes: what is here, bits (the box, and tests/engine on the
# card), products near the smallest normal number, rates, bytes of device memory by ncu, errors
# by compute-sanitizer, other codes on the same box, where these are installed. Everything is kept in files of OUTPUT
# (default benchmarks/results), eight at most; what a part has found is kept when the next is cut short.
#
#     benchmarks/gpu.sh [OUTPUT] [CELLS]
#
# Taken is .venv/bin/python, or PYTHON_IN. Where there is neither, `scripts/setup_offline` makes .venv from the packages
# of `python3` and from wheels in the folder WHEELS, without network. MOST_SECONDS (default 570) is for all of it; a
# part that has no time left is left out, and said to be. RATES holds further options of benchmarks/gpu.py: a stand-in
# for a card is done in minutes with CELLS 24, RATES="--steps 12 --bit-cells 24 --no-probe" and TESTS, one file of tests.
#
# Exit codes: 0 bits and tests are as they must be; 1 they are not, or a part failed or was cut short; 2 no card can be
# used, or this machine lacks something (the reason is printed).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=${1:-benchmarks/results}
cells=${2:-512}
most=${MOST_SECONDS:-570}
failed=0
mkdir -p "$output"
export PYTHONUNBUFFERED=1 OPENBLAS_NUM_THREADS=1
export NEARFIELD_DEVICE=${NEARFIELD_DEVICE-}  # the tests take the card, not the make-believe device

part() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# within SECONDS COMMAND...: each part has its own limit, and the visit one for all; then the signal `stop` ends it.
# 124: the time was over.
within() {
    local limit=$1 left=$((most - SECONDS))
    shift
    if [ "$left" -lt 5 ]; then
        echo "left out: the visit's $most s are over" >&2
        return 124
    fi
    timeout --signal="${stop:-TERM}" --kill-after=10 "$((limit < left ? limit : left))" "$@"
}
# fail WHAT: after a command that failed; one that ended for lack of time (124, 137) is said to be cut short.
fail() {
    case $? in
        124 | 137) echo "CUT SHORT: $1" ;;
        *) echo "FAILED: $1" ;;
    esac
    failed=1
}

python=${PYTHON_IN:-.venv/bin/python}
if [ -z "${PYTHON_IN:-}" ] && ! "$python" -c 'from nearfield.machine.compiled import core; core()' 2> /dev/null; then
    part "nothing is built here: building"
    within "$most" scripts/setup_offline || exit 2
fi
nearfield=("$python" -m nearfield)

part "the card"
"$python" - <<'PYTHON' || exit 2
import sys
from nearfield.engines.cuda.device import device
from nearfield.entry.errors import ModelError
try:
    found = device()
except ModelError as error:
    sys.exit(print(f"error: {error}", file=sys.stderr) or 2)
print(found.name, found.facts())
PYTHON
within 60 "${nearfield[@]}" doctor --json > "$output/gpu_doctor.json" || fail "doctor"

part "bits, products near 2^-126, rates"
read -r -a rates <<< "${RATES:-}"
within 300 "$python" benchmarks/gpu.py --cells "$cells" --output "$output" "${rates[@]}" ||
    fail "bits or rates, see $output/gpu.json"

part "tests of the engine on the card"
workers=()
"$python" -c 'import xdist' 2> /dev/null && workers=(-n "${WORKERS:-8}")
# interrupted, pytest still names what failed
stop=INT within 150 "$python" -m pytest -q "${workers[@]}" --maxfail=10 "${TESTS:-tests/engine}" -p no:cacheprovider \
    -k "(cuda or any_cut or both_parts or beside_prisms or beside_the_pass or stay_out_of_the_pass) and not card and not make_believe" \
    > "$output/gpu_tests.txt" 2>&1 || fail "tests, see $output/gpu_tests.txt"
tail -n 3 "$output/gpu_tests.txt"

part "stray accesses and races (compute-sanitizer)"
if command -v compute-sanitizer > /dev/null; then
    : > "$output/gpu_sanitizer.txt"
    for tool in memcheck racecheck; do
        for way in "2 cpml" "1 cpml" "0.5 pec"; do
            read -r passes boundary <<< "$way"
            # calls that fail on purpose, such as to ask a module for a kernel of another, are the engine's to judge
            NEARFIELD_PASSES=$passes within 60 compute-sanitizer --tool "$tool" --error-exitcode 3 --report-api-errors no \
                "${nearfield[@]}" bench box --cells 40 --steps 4 --boundary "$boundary" --engine cuda --json \
                > "$output/part.txt" 2>&1
            code=$?
            summary=$(grep 'SUMMARY' "$output/part.txt" | tail -n 1)
            echo "$tool, $passes passes, $boundary: exit code $code ${summary}" | tee -a "$output/gpu_sanitizer.txt"
            case $code in
                0 | 124) ;;
                3) fail "$tool found something, see $output/gpu_sanitizer.txt" ;;
                *) echo "it could not run" | tee -a "$output/gpu_sanitizer.txt" ;;
            esac
            if [ "$code" -ne 0 ]; then head -c 200000 "$output/part.txt" >> "$output/gpu_sanitizer.txt"; fi
        done
    done
    rm -f "$output/part.txt"
else
    echo "left out: compute-sanitizer is not installed"
fi

part "bytes of device memory (ncu)"
if command -v ncu > /dev/null; then
    tables=()
    for passes in 2 1 0.5; do
        tables+=("$output/ncu_$passes.csv")
        NEARFIELD_PASSES=$passes within 60 ncu --csv --print-units base --log-file "${tables[-1]}" --clock-control none \
            --kernel-name 'regex:half_step|sweep' --launch-skip 12 --launch-count 12 \
            --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,gpu__time_duration.sum,launch__registers_per_thread \
            "${nearfield[@]}" bench box --cells $((cells / 2)) --steps 10 --boundary pec --engine cuda --json > /dev/null ||
            echo "ncu failed with $passes passes: its counters may be closed to users"
    done
    within 30 "$python" benchmarks/gpu_counters.py --cells $((cells / 2)) --output "$output" --tables "${tables[@]}" ||
        { echo "ncu counted no kernel"; tail -n 5 "${tables[@]}"; }
    rm -f "${tables[@]}"
else
    echo "left out: ncu is not installed"
fi

part "other codes on the same box"
# the python that holds their libraries need not be the one that Nearfield runs on
theirs=${PEER_PYTHON:-python3}
: > "$output/peers.txt"
peer() {
    local name=$1
    shift
    within 60 "$theirs" "$@" > "$output/part.txt" 2>&1 || echo "left out: $name"
    tail -n 1 "$output/part.txt" | tee -a "$output/peers.txt"
}
for name in torch torch-compiled cupy; do
    peer "$name" benchmarks/peers/card_box.py --peer "$name" --cells "$cells"
done
if "$theirs" -c 'import gprMax' 2> /dev/null; then
    peer gprMax benchmarks/peers/gprmax_box.py --gpu --cells $((cells / 2)) --steps 200
else
    echo "left out: gprMax is not installed"
fi
"$python" -c 'import json, sys
from nearfield.machine.facts import measured_by
lines = [line for line in open(sys.argv[1]) if line.startswith("{")]
json.dump({**measured_by("benchmarks/gpu.sh"), "peers": [json.loads(line) for line in lines]}, sys.stdout, indent=1)' \
    "$output/peers.txt" > "$output/gpu_peers.json"
rm -f "$output/peers.txt" "$output/part.txt"

part "done"
exit $failed
