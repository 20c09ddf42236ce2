#!/usr/bin/env bash
# The whole visit to a card in one command of under ten minutes: what is here, bits (the box, and tests/engine on the
# card), products near the smallest normal number, rates beside their predictions, bytes of device memory by ncu, errors
# by compute-sanitizer where these are installed. Everything is kept under OUTPUT (default benchmarks/results).
#
#     benchmarks/gpu.sh [OUTPUT] [CELLS]
#
# Exit codes: 0 bits and tests are as they must be; 1 they are not; 2 no card can be used (the reason is printed).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
output=${1:-benchmarks/results}
cells=${2:-512}
python=${PYTHON_IN:-.venv/bin/python}
nearfield=("$python" -m nearfield)
failed=0
mkdir -p "$output"
export OPENBLAS_NUM_THREADS=1 NEARFIELD_DEVICE=${NEARFIELD_DEVICE-}  # the tests take the card, not the make-believe device

part() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }
# Each part has its own limit, so that one that hangs leaves time for the rest.
within() { timeout --kill-after=10 "$@"; }

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
within 60 "${nearfield[@]}" doctor --json > "$output/gpu_doctor.json" || failed=1

part "bits, products near 2^-126, rates"
within 240 "$python" benchmarks/gpu.py --cells "$cells" --output "$output" || failed=1

part "tests of the engine on the card"
within 150 "$python" -m pytest -q -x tests/engine -k "cuda and not card and not make_believe" -p no:cacheprovider || failed=1

part "bytes of device memory (ncu)"
if command -v ncu > /dev/null; then
    for passes in 2 1 0.5; do
        NEARFIELD_PASSES=$passes within 40 ncu --csv --clock-control none --launch-skip 20 --launch-count 6 \
            --metrics dram__bytes_read.sum,dram__bytes_write.sum,lts__t_bytes.sum,gpu__time_duration.sum,launch__registers_per_thread \
            "${nearfield[@]}" bench box --cells $((cells / 2)) --steps 10 --engine cuda --json \
            > "$output/gpu_ncu_$passes.csv" || echo "ncu failed: its counters may be closed to users"
    done
else
    echo "left out: ncu is not installed"
fi

part "stray accesses and races (compute-sanitizer)"
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
        for way in "1 cpml" "0.5 pec"; do
            read -r passes boundary <<< "$way"
            NEARFIELD_PASSES=$passes within 40 compute-sanitizer --tool "$tool" --error-exitcode 3 \
                "${nearfield[@]}" bench box --cells 40 --steps 4 --boundary "$boundary" --engine cuda --json \
                > "$output/gpu_${tool}_$boundary.txt" || { echo "$tool found something, see $output/gpu_${tool}_$boundary.txt"; failed=1; }
        done
    done
else
    echo "left out: compute-sanitizer is not installed"
fi

part "done"
exit $failed
